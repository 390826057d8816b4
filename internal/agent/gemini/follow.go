package gemini

import (
	"bytes"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// follower reads the output of one attempt.
type follower struct {
	agent.Attempt
	profile *Profile
	plan    agent.Plan
	saved   bool // it is an outcome that was saved: nothing else is known of it
	start   time.Time
	prices  *price.Table

	ownID   string // that we have chosen for it
	events  bool   // an event was seen
	asking  bool   // the model is being asked
	waiting bool   // it is about to be asked again
	failed  bool   // the last request had no answer
	// continues says that the model will be asked again: it has called tools.
	continues bool
	answers   int // of the model
	warnings  []string
	complaint string // the last event that tells of an error
	result    *event
	notice    retryNotice // the one on stderr that has begun

	printed     printed      // what the model has said
	said        agent.Answer // the last of it
	text        bytes.Buffer // what was printed that is no event
	answer      agent.Answer // that of a document, where it is too long to be read as a whole
	document    *document
	record      *recordReader // gemini's own; nil as long as there is none
	looked      time.Time     // when it was last looked for
	lastWritten time.Time     // when it was last written to
	class       verdict.Class
	unseen      int // retries that gemini has not told of
}

// Follow implements [agent.Agent].
func (p *Profile) Follow(plan agent.Plan) agent.Follower {
	f := &follower{profile: p, plan: plan, start: time.Now(), prices: plan.Prices}
	line := p.line
	if len(plan.Args) > 0 {
		line = options().Read(plan.Args[1:])
	}
	if id := line.Value(optResume); agent.IsUUID(id) {
		f.ResumeID = id
	}
	f.ownID = line.Value(optID)
	return agent.Follower{Reader: f, StderrLine: f.stderrLine, Look: f.look, ExitCode: f.exitCode}
}

// maxText bounds what is kept of output that holds no events: what a verdict needs.
const maxText = 1 << 20

// Line implements [agent.Reader].
func (f *follower) Line(line agent.Line) agent.LineInfo {
	e, ok := parse(line.Text)
	if !ok {
		f.keep(line)
		info := f.lineInfo(agent.Pass)
		info.Foreign = !f.plan.Plain && (!f.events || !bytes.HasPrefix(line.Text, []byte("{"))) // else it is an event that was cut off
		return info
	}
	f.events, f.waiting = true, false
	show := f.take(e, line)
	info := f.lineInfo(show)
	info.Answered = e.Type == "tool_use" || e.Type == "message" && e.Role == "assistant"
	if e.Type == "tool_use" || e.Type == "tool_result" || e.Type == "result" {
		info.Turn = f.turn()
		if e.Status == "success" && e.Stats != nil && len(e.Stats.Models) == 1 { // else others were asked on the side
			for name := range e.Stats.Models {
				f.Models.Answer(name) // as the service names it
			}
		}
		info.Models = f.Models
	}
	return info
}

// responseBegins is how the line of a document begins that has the answer.
const responseBegins = `  "response": "`

// keep keeps a line that is no event, as far as a verdict needs it.
func (f *follower) keep(line agent.Line) {
	text := line.Text
	if f.events {
		return
	}
	if len(text) > maxText/4 && bytes.HasPrefix(text, []byte(responseBegins)) {
		if a, ok := agent.NewQuotedAnswer(line, responseBegins, shorten(text[len(responseBegins):])); ok {
			f.answer = a
			text = []byte(responseBegins + `…",`)
		}
	}
	if room := maxText - f.text.Len(); room > 0 {
		f.text.Write(text[:min(len(text), room)])
		f.text.WriteByte('\n')
	}
}

// shorten is what is shown of a long string, with its escapes as they stand.
func shorten(text []byte) string {
	return strings.ToValidUTF8(string(text[:min(len(text), 64<<10)]), "")
}

// take follows an event.
func (f *follower) take(e event, line agent.Line) agent.Show {
	switch e.Type {
	case "init":
		f.Session, f.Model, f.asking, f.Models.Begun = e.Session, e.Model, true, e.Model
	case "message":
		if e.Role != "assistant" {
			break
		}
		f.spoke()
		f.Writes, f.continues = agent.Writing, false
		f.printed.say(agent.NewAnswer(line, "content", e.Content))
	case "tool_use":
		f.spoke()
		f.Worked, f.continues = true, true
		f.Tools.Call(e.ToolID, agent.NewCall(e.ToolName, e.Parameters))
	case "tool_result":
		f.Tools.End(e.ToolID)
		f.printed.next()
		f.asking, f.Writes = f.Tools.Running() == 0, agent.Thinking
	case "error":
		if e.Severity != "error" {
			f.warnings = append(f.warnings, e.Message)
		} else {
			f.complaint = e.Message
		}
		return agent.Hold
	case "result":
		f.result = &e
		f.Tools.EndAll()
		f.failed = f.asking && e.Status != "success"
		if f.asking && !f.failed {
			f.answers++ // an empty one
		}
		f.asking, f.continues = false, false
		f.said = f.printed.answer()
		if e.Error == nil { // else it broke off in the middle
			f.printed.endLine()
		}
		if e.Status != "success" || len(f.warnings) > 0 {
			return agent.Hold
		}
	}
	return agent.Pass
}

// spoke notes that there is something of the model.
func (f *follower) spoke() {
	if f.asking {
		f.answers++
	}
	f.Active, f.asking = true, false
}

func (f *follower) lineInfo(show agent.Show) agent.LineInfo {
	return f.Info(agent.LineInfo{Show: show, Delivered: f.result != nil, Continues: f.continues})
}

// stderrLine is for [agent.Follower].
func (f *follower) stderrLine(line []byte) (agent.LineInfo, bool) {
	r := f.notice.read(string(line))
	if r == nil {
		return agent.LineInfo{}, false
	}
	f.Retries++
	f.waiting = true
	info := f.lineInfo(agent.Pass)
	info.Retrying = r
	return info, true
}

// look is for [agent.Follower].
func (f *follower) look() (agent.LineInfo, bool) {
	turn := f.turn()
	if turn == nil && !f.isAlive() {
		return agent.LineInfo{}, false
	}
	info := f.lineInfo(agent.Drop)
	info.Turn = turn
	return info, true
}

// isAlive reports whether gemini has shown since the last look that it is alive, where it prints only at its end: by what it puts
// on record. Where there is none, nothing can be said, and it is not to be ended for that.
func (f *follower) isAlive() bool {
	if !f.plan.Plain {
		return false
	}
	var last time.Time
	if f.record != nil {
		last = modified(f.record.path)
	} else {
		last = lastRecord(f.profile.home)
	}
	grown := last.After(f.lastWritten)
	f.lastWritten = last
	return grown || last.Before(f.start)
}

// exitCode is for [agent.Follower]. Where text is asked for, gemini ends with 1 after any failure of the service.
func (f *follower) exitCode(code int) int {
	if f.plan.Plain || f.profile.form() != agent.Text {
		return code
	}
	switch code {
	case 0, exitAuth, exitInput, exitSandbox, exitConfig, exitTurns, exitTool, exitUntrusted, exitCancelled:
		return code
	}
	return 1
}
