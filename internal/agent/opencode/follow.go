package opencode

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// follower reads the output of one attempt.
type follower struct {
	plain    bool       // stdout is the answer and nothing else
	guess    bool       // whether it is, is not known; events are recognized by how they begin
	asked    agent.Form // of a saved outcome: what its command line has asked for
	added    []string   // options of ours on the command line
	resumeID string     // the session that the command line resumes
	thinking bool       // the caller wants to see what the model thinks
	ownLogs  bool       // the caller wants to see the log

	lines    int
	session  string
	version  string
	model    string
	active   bool           // the model or a tool has done something
	worked   bool           // a tool has
	rejected bool           // the last tool was not allowed, which ends the run
	said     bool           // there is an answer that is not empty
	texts    []agent.Answer // what the text form prints
	answer   agent.Answer   // the last that the model has said
	steps    int            // model calls that were answered
	used     verdict.Usage  // by them
	reason   string         // why the last one ended; empty if the last one that began has not
	asking   bool           // the model is being asked
	failure  *failure       // why the run failed, in opencode's words
	tools    agent.Tools
	running  bool                // a tool runs of which there is no event yet
	nothing  int                 // answers in a row that were none
	requests map[string]*request // to the model, by session: subagents have their own
	working  bool                // the log tells that a model is being asked, or its tools run
	troubled bool                // the model has not answered since it was last asked again
	retries  int                 // that the log has told of
	exiting  bool                // the log says that it is done
	reasons  string              // what the log says of a failure inside opencode, which an event tells nothing of
	misread  bool                // an option of ours was not understood
	over     bool                // it has ended
}

// Line implements agent.Reader.
func (f *follower) Line(line agent.Line) (info agent.LineInfo) {
	f.lines++
	e, ok := readEvent(line.Text)
	if f.guess && f.lines == 1 && !ok {
		f.plain = true
	}
	if f.plain {
		f.said = f.said || len(bytes.TrimSpace(line.Text)) > 0
		return agent.LineInfo{} // it is the answer, and nothing else comes on stdout
	}
	if !ok {
		info = f.info()
		info.Foreign = f.session == "" || !bytes.HasPrefix(line.Text, []byte("{")) // else it is an event that was cut off, or a new kind
		return info
	}
	if e.Session != "" {
		f.session = e.Session
	}
	turn, retrying := f.take(e, line)
	info = f.info()
	info.Turn, info.Retrying = turn, retrying
	f.troubled = f.troubled || retrying != nil
	switch e.Type {
	case "error":
		info.Show = agent.Hold
	case "text", "reasoning", "tool_use":
		info.Answered = true
	case "step_finish":
		info.Answered = e.Part.Reason != "unknown"
	}
	if info.Answered {
		f.troubled = false
	}
	info.Troubled = f.troubled
	return info
}

// info says how the attempt stands as a whole.
func (f *follower) info() (info agent.LineInfo) {
	if f.running {
		info.Tools = 1
	}
	info.Begun = f.tools.Begun()
	info.Delivered = f.delivered() || f.exiting && f.lines == 0
	info.Continues = f.reason == "tool-calls"
	if name, argument := f.tools.Newest(); name != "" {
		info.Activity = agent.Activity{Doing: agent.UsingTool, Tool: name, Argument: argument}
	}
	return info
}

// delivered reports whether the answer is there, and nothing is known to go on. Before it ends opencode says in its log that
// it is done; without the log, its last model call has ended.
func (f *follower) delivered() bool {
	return f.failure == nil && f.reason != "" && f.reason != "tool-calls" && f.reason != "unknown" && !f.running
}

// take follows an event. turn is what the model call has used that it ends, retrying what is tried again by itself.
func (f *follower) take(e event, line agent.Line) (turn *verdict.Usage, retrying *agent.Retrying) {
	p := &e.Part
	switch e.Type {
	case "step_start":
		f.reason, f.asking = "", true
	case "text":
		f.active = true
		f.answer = agent.NewAnswer(line, "part.text", p.Text)
		if strings.TrimSpace(p.Text) != "" {
			f.said = true
			f.texts = append(f.texts, f.answer)
		}
	case "reasoning":
		f.active = true
		if f.thinking && strings.TrimSpace(p.Text) != "" {
			f.texts = append(f.texts, agent.NewAnswer(line, "part.text", thought+p.Text))
		}
	case "tool_use":
		f.active, f.running = true, false
		f.rejected = p.State.Status == "error" && strings.HasPrefix(p.State.Error, rejection)
		f.worked = f.worked || !f.rejected
		if p.Tool != shell || !f.tools.Runs(tentative, shell) {
			f.tools.Begin(p.CallID, p.Tool)
			f.tools.Argue(p.CallID, agent.ToolArgument(p.State.Input))
			f.tools.End(p.CallID) // it is told of when it has ended
		}
		f.tools.End(tentative)
	case "step_finish":
		return f.finished(p)
	case "error":
		failed := e.Error
		if f.failure == nil || f.failure.Data.Status == 0 { // the first says most: an overflow is told twice
			f.failure = &failed
		}
		f.asking = false
	}
	return nil, nil
}

// finished follows the end of a model call.
func (f *follower) finished(p *part) (*verdict.Usage, *agent.Retrying) {
	f.reason, f.asking, f.running = p.Reason, false, false
	f.tools.EndAll()
	u := p.usage()
	f.used = f.used.Add(u)
	if p.Reason == "unknown" && p.Tokens.none() {
		// What has come was no answer: a page of a captive portal, or a stream without events. It asks again at once, for ever.
		f.nothing++
		return nil, &agent.Retrying{Verdict: verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-answer", SessionID: f.session,
			Evidence: "the service answered with something that is not an answer"}}
	}
	f.nothing = 0
	f.steps++
	f.active = true
	return &u, nil
}

// stderrLine is for [agent.Follower]: it reads opencode's log, and takes it out of what the caller sees.
func (f *follower) stderrLine(line []byte) (info agent.LineInfo, ok bool) {
	l, ok := readLog(line)
	if !ok {
		return info, false
	}
	show := agent.Drop
	if f.ownLogs || f.plain && len(f.added) == 0 {
		show = agent.Pass
	}
	if !slices.Contains(logMessages, l.Message) {
		return agent.LineInfo{Show: show}, false
	}
	retrying := f.readLogLine(&l, time.Now())
	f.troubled = f.troubled || retrying != nil
	info = f.info()
	info.Retrying, info.Troubled, info.Show = retrying, f.troubled, show
	return info, true
}

// logMessages are the messages of the log that tell something.
var logMessages = []string{"created", "loop", "process", "evaluated", "stream", "stream error", "exiting loop", "failed"}

// stderrBegins is for [agent.Follower].
func (f *follower) stderrBegins(begin []byte) bool {
	is, _ := isLog(begin)
	return is
}

// rejection is what a tool is told that was not allowed, where no person can be asked.
const rejection = "The user rejected permission"

// tentative is the name of a call of a tool that the log tells of, and the events do not yet.
const tentative = "…"

// shell is the tool that runs commands. Others take a moment.
const shell = "bash"

// readLogLine follows a line of the log.
func (f *follower) readLogLine(l *logLine, now time.Time) *agent.Retrying {
	session := l.session()
	switch l.Message {
	case "created":
		if id := l.field("id"); f.session == "" && isSession(id) && f.resumeID == "" {
			f.session = id
			f.version = l.field("version")
		}
	case "loop", "process":
		if f.session == "" && isSession(session) {
			f.session = session
		}
		switch {
		case l.Level == "INFO": // another model call follows, or none
			delete(f.requests, cmp.Or(session, f.session))
			f.working = false
		case l.old: // so it says that a request has failed
			return f.failedInside(cmp.Or(session, f.session), l.errorText(), now)
		}
	case "evaluated":
		// What a tool may do is looked up right before it does it.
		if l.allows() && f.working && !f.running {
			f.running, f.active = true, true
			if l.field("permission") == shell {
				f.tools.Begin(tentative, shell)
				f.tools.Argue(tentative, agent.ShortArgument(l.field("pattern")))
			}
		}
	case "stream":
		if l.field("small") == "true" || session == "" {
			break
		}
		f.working = true
		if session == f.session {
			f.model, f.asking = l.field("modelID"), true
		}
		return f.asks(session)
	case "stream error":
		if l.field("small") != "true" && session != "" && !l.old { // which says it twice
			return f.failedInside(session, l.errorText(), now)
		}
	case "exiting loop":
		f.exiting = f.exiting || session == f.session
	case "failed":
		if l.Level == "ERROR" {
			f.reasons = l.errorText()
		}
	}
	return nil
}

// Answer implements agent.Reader.
func (f *follower) Answer() agent.Answer {
	if f.plain {
		return agent.Printed
	}
	return f.answer
}
