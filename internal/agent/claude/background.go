package claude

import (
	"cmp"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/verdict"
)

// inBackground reports whether the process holds a session for claude's supervisor, as claude --bg has it do, or waits for one. It has a terminal of
// its own, which claude attach shows, so that what it does is to be seen on its record alone.
func (p *Profile) inBackground() bool {
	if p.getenv("CLAUDE_CODE_SESSION_KIND") != "bg" || p.conversation() || p.line.Has("-p") || len(p.args) < 2 {
		return false
	}
	first := p.args[1]
	return first == "--bg-spare" || first != "--bg-pty-host" && p.named() != ""
}

// named is the session that the command line names, whatever else there is on it.
func (p *Profile) named() string {
	for _, option := range []string{"--session-id", "--resume", "-r"} {
		if i := slices.Index(p.args, option); i > 0 && i+1 < len(p.args) && agent.IsUUID(p.args[i+1]) {
			return p.args[i+1]
		}
	}
	return ""
}

// background follows a session on its record, whose lines are told as events of the stream.
type background struct {
	*follower
	begun  time.Time // the process
	since  time.Time // what counts of the record
	looked time.Time
	holds  string // the file in which the process says which session it holds
	dir    string // where that works
	path   string // its record; empty as long as that is not found
	read   map[string]int64
	news   []event
	over   bool   // no turn is under way
	said   string // by the model, last in this turn
}

// followRecord follows a session in the background.
func (p *Profile) followRecord(f *follower) agent.Follower {
	now := time.Now().Truncate(time.Millisecond)
	b := &background{follower: f, begun: now, since: now, looked: now, read: map[string]int64{}, over: true}
	f.Session, f.events = p.named(), true
	started := func(pid int) { b.holds = filepath.Join(p.configDir(), "sessions", strconv.Itoa(pid)+".json") }
	return agent.Follower{Reader: b, Look: b.look, Started: started, JudgeTurn: f.judgeTurn}
}

// look returns what the next new line of the record tells.
func (b *background) look() (info agent.LineInfo, ok bool) {
	if len(b.news) == 0 {
		b.fetch()
	}
	if len(b.news) == 0 {
		return info, false
	}
	e := b.news[0]
	b.news = b.news[1:]
	return b.event(e, agent.Line{}), true
}

// Account implements [agent.Reader].
func (b *background) Account() agent.Account {
	a := b.follower.Account()
	a.Dir = b.dir
	a.Unused = !b.turnBegun && (b.class == "" || b.class == verdict.Interrupted) // it has waited in vain
	return a
}

// fetch reads what is new on the records of the session and of its sub-agents.
func (b *background) fetch() {
	looked := time.Now()
	b.hold()
	b.looked = looked
	if b.path == "" {
		b.path = findTranscript(b.profile.configDir(), b.Session)
	}
	if b.path == "" {
		return
	}
	b.readOn(b.path, false)
	for _, helper := range agent.Glob(strings.TrimSuffix(b.path, ".jsonl"), "subagents", "*.jsonl") {
		b.readOn(helper, true)
	}
}

// hold finds out which session the process holds. What another process has said that had its number does not count.
func (b *background) hold() {
	var held struct {
		SessionID, CWD string
		StartedAt      int64 // in milliseconds
	}
	text, err := safefile.ReadRegular(b.holds, 64<<10)
	if err != nil || json.Unmarshal(text, &held) != nil || !agent.IsUUID(held.SessionID) || time.UnixMilli(held.StartedAt).Before(b.begun) {
		return
	}
	if filepath.IsAbs(held.CWD) {
		b.dir = held.CWD
	}
	if held.SessionID == b.Session {
		return
	}
	b.since = b.looked
	if b.Session == "" {
		b.since = time.UnixMilli(held.StartedAt) // it has waited until then
	}
	b.Session, b.path = held.SessionID, ""
}

func (b *background) readOn(path string, helper bool) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() < b.read[path] {
		b.read[path] = 0 // it was written anew
	}
	if _, err := f.Seek(b.read[path], io.SeekStart); err != nil {
		return
	}
	agent.WholeLines(f, maxEntry, func(line []byte, size int64) {
		b.read[path] += size
		var r recordEvent
		if agent.Lenient(json.Unmarshal(line, &r)) != nil || r.Timestamp.Before(b.since) {
			return // or it is of an earlier process
		}
		if e, ok := b.told(r); ok {
			if helper || r.Sidechain {
				e.Parent = "sub-agent"
			}
			b.news = append(b.news, e)
		}
	})
}

// recordEvent is a line of the record, which has much of an event.
type recordEvent struct {
	event
	Timestamp time.Time `json:"timestamp"`
	SessionID string    `json:"sessionId"`
	Sidechain bool      `json:"isSidechain"`
	Status    int       `json:"apiErrorStatus"`
	ErrorName string    `json:"apiError"`
	ErrorType string    `json:"apiErrorType"`
	Release   string    `json:"version"`
	Limits    rateLimit `json:"quotaLimits"`
}

// told is a line as an event. ok is false for what the stream does not tell.
func (b *background) told(r recordEvent) (e event, ok bool) {
	e = r.event
	e.Session, b.Version = r.SessionID, cmp.Or(r.Release, b.Version)
	switch {
	case r.Type == "assistant":
		e.RateLimit, e.result = r.Limits, result{Status: r.Status, APIError: r.ErrorName, APIErrorType: r.ErrorType}
	case r.Type == "user":
	case r.Subtype == "turn_duration":
		e = event{Type: "result", Subtype: "success", Session: r.SessionID}
	default:
		return e, false
	}
	return e, true
}

// event takes an event. The first of a turn, and its end, with what has failed, become what they are in the stream.
func (b *background) event(e event, line agent.Line) agent.LineInfo {
	if b.over && e.Type != "result" && e.Parent == "" {
		b.over, b.said, b.complaint = false, "", event{}
		b.follower.event(event{Type: "system", Subtype: "init", Session: e.Session, Version: b.Version, Model: b.Model}, line)
		b.Models = agent.ModelUse{} // its user may choose another one
	}
	switch {
	case e.Type == "assistant" && e.Error != "":
		b.limit = rateLimit{}
		if e.RateLimit.Status == "rejected" {
			b.limit = e.RateLimit
		}
	case e.Type == "assistant" && e.Parent == "":
		b.said, b.Model = cmp.Or(e.Message.Content.text(), b.said), cmp.Or(e.Message.Model, b.Model)
	case e.Type == "result" && b.complaint.Error != "":
		e.result = b.complaint.result
		e.IsError, e.Text = true, b.complaint.Message.Content.text()
	case e.Type == "result" && b.aborted:
		e.IsError, e.Subtype = true, "error_during_execution"
	case e.Type == "result":
		e.Text = cmp.Or(b.said, "-") // it may have only used tools
	}
	b.over = b.over || e.Type == "result"
	b.quota = e.RateLimit.windows()
	return b.follower.event(e, line)
}
