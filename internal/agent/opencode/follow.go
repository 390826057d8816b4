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
	agent.Attempt
	thinking bool // the caller wants to see what the model thinks
	ownLogs  bool // the caller wants to see the log

	rejected bool                // the last tool was not allowed, which ends the run
	texts    []agent.Answer      // what the text form prints
	steps    int                 // model calls that were answered
	used     verdict.Usage       // by them
	reason   string              // why the last one ended; empty if the last one that began has not
	asking   bool                // the model is being asked
	failure  *failure            // why the run failed, in opencode's words
	running  bool                // a tool runs of which there is no event yet
	nothing  int                 // answers in a row that were none
	requests map[string]*request // to the model, by session: subagents have their own
	agent    string              // of opencode's, that works on the request
	working  bool                // the log tells that a model is being asked, or its tools run
	troubled bool                // the model has not answered since it was last asked again
	exiting  bool                // the log says that it is done
	reasons  string              // what the log says of a failure inside opencode, which an event tells nothing of
}

// Line implements agent.Reader.
func (f *follower) Line(line agent.Line) (info agent.LineInfo) {
	f.Lines++
	e, ok := readEvent(line.Text)
	if f.Guess && f.Lines == 1 && !ok {
		f.Plain = true
	}
	if f.Plain {
		f.Said = f.Said || len(bytes.TrimSpace(line.Text)) > 0
		return agent.LineInfo{} // it is the answer, and nothing else comes on stdout
	}
	if !ok {
		info = f.info()
		info.Foreign = f.Session == "" || !bytes.HasPrefix(line.Text, []byte("{")) // else it is an event that was cut off, or a new kind
		return info
	}
	if e.Session != "" {
		f.Session = e.Session
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
func (f *follower) info() agent.LineInfo {
	info := f.Info(agent.LineInfo{Delivered: f.delivered() || f.exiting && f.Lines == 0, Continues: f.reason == "tool-calls"})
	if info.Tools = 0; f.running {
		info.Tools = 1
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
		f.Active = true
		f.Final = agent.NewAnswer(line, "part.text", p.Text)
		if strings.TrimSpace(p.Text) != "" {
			f.Said = true
			f.texts = append(f.texts, f.Final)
		}
	case "reasoning":
		f.Active = true
		if f.thinking && strings.TrimSpace(p.Text) != "" {
			f.texts = append(f.texts, agent.NewAnswer(line, "part.text", thought+p.Text))
		}
	case "tool_use":
		f.Active, f.running = true, false
		f.rejected = p.State.Status == "error" && strings.HasPrefix(p.State.Error, rejection)
		f.Worked = f.Worked || !f.rejected
		call := agent.NewCall(p.Tool, p.State.Input)
		if p.Tool != shell || !f.Tools.Runs(tentative, shell) {
			f.Tools.Call(p.CallID, call)
			f.Tools.End(p.CallID) // it is told of when it has ended
		} else {
			f.Tools.Note(call)
		}
		f.Tools.End(tentative)
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
	f.Tools.EndAll()
	f.Agents = nil
	u := p.usage()
	f.used = f.used.Add(u)
	if p.Reason == "unknown" && p.Tokens.none() {
		// What has come was no answer: a page of a captive portal, or a stream without events. It asks again at once, for ever.
		f.nothing++
		return nil, &agent.Retrying{Verdict: verdict.Verdict{Class: verdict.BadOutput, Retryable: true, Rule: "no-answer", SessionID: f.Session,
			Evidence: "the service answered with something that is not an answer"}}
	}
	f.nothing = 0
	f.steps++
	f.Active = true
	return &u, nil
}

// stderrLine is for [agent.Follower]: it reads opencode's log, and takes it out of what the caller sees.
func (f *follower) stderrLine(line []byte) (info agent.LineInfo, ok bool) {
	l, ok := readLog(line)
	if !ok {
		return info, false
	}
	show := agent.Drop
	if f.ownLogs || f.Plain && len(f.Added) == 0 {
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
		if id := l.field("id"); f.Session == "" && isSession(id) && f.ResumeID == "" {
			f.Session = id
			f.Version = l.field("version")
		}
		if isSession(l.field("parentID")) {
			f.Agents = append(f.Agents, l.field("id"))
		}
	case "loop", "process":
		if f.Session == "" && isSession(session) {
			f.Session = session
		}
		switch {
		case l.Level == "INFO": // another model call follows, or none
			delete(f.requests, cmp.Or(session, f.Session))
			f.working = false
		case l.old: // so it says that a request has failed
			return f.failedInside(cmp.Or(session, f.Session), l.errorText(), now)
		}
	case "evaluated":
		// What a tool may do is looked up right before it does it.
		if l.allows() && f.working && !f.running {
			f.running, f.Active = true, true
			if l.field("permission") == shell {
				f.Tools.Begin(tentative, shell)
				f.Tools.Argue(tentative, agent.ShortArgument(l.field("pattern")))
			}
		}
	case "stream":
		if l.field("small") == "true" || session == "" {
			break
		}
		f.working = true
		if session == f.Session {
			f.Model, f.asking = l.field("modelID"), true
			if f.Models.Begun == "" {
				f.Models.Begun, f.agent = f.Model, l.field("agent")
			}
			if f.agent == l.field("agent") { // others, as the one that sums up, may have a model of their own
				f.Models.Answer(f.Model)
			}
		}
		return f.asks(session)
	case "stream error":
		if l.field("small") != "true" && session != "" && !l.old { // which says it twice
			return f.failedInside(session, l.errorText(), now)
		}
	case "exiting loop":
		f.exiting = f.exiting || session == f.Session
		f.Agents = slices.DeleteFunc(f.Agents, func(id string) bool { return id == session })
	case "failed":
		if l.Level == "ERROR" {
			f.reasons = l.errorText()
		}
	}
	return nil
}
