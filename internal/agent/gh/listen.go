package gh

import (
	"fmt"
	"io"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// listener implements agent.Listener.
type listener struct {
	profile *Profile
	own     bool // the trace was asked for by us, not by the user
	trace   trace
	start   time.Time
}

func newListener(p *Profile) *listener {
	l := &listener{profile: p, start: time.Now()}
	l.trace.foreignQueries = p.line.isAPI()
	l.own = p.line.traced() && !debugs(p.env)
	return l
}

// debugs reports whether the user has asked for what gh says of itself, as gh reads it.
func debugs(env []string) bool {
	switch agent.Getenv(env, "GH_DEBUG") {
	case "":
	case "0", "false", "no":
		return false
	default:
		return true
	}
	switch agent.Getenv(env, "DEBUG") { // the older name
	case "1", "true", "yes", "api":
		return true
	}
	return false
}

// Env implements agent.Listener.
func (l *listener) Env() []string {
	if !l.own {
		return nil
	}
	return []string{"GH_DEBUG=api"}
}

// Stderr implements agent.Listener.
func (l *listener) Stderr(user io.Writer) io.WriteCloser {
	f := &filter{user: user, trace: &l.trace, start: l.start, now: time.Now, expansion: expansionOf(l.profile.line.args)}
	if l.own {
		return f
	}
	f.user = io.Discard
	return &teeFilter{user: user, filter: f}
}

// expansionOf is how older versions of gh begin to say what they take a command for that they do not have, as "[project list] -> [project list]".
func expansionOf(args []string) string { return fmt.Sprintf("%v -> [", args) }

// teeFilter passes everything on and reads along: the user has asked for the trace.
type teeFilter struct {
	user   io.Writer
	filter *filter
}

func (b *teeFilter) Write(p []byte) (int, error) {
	b.filter.Write(p)
	return b.user.Write(p)
}

func (b *teeFilter) Close() error { return b.filter.Close() }

// Requests implements agent.Listener.
func (l *listener) Requests() int { return l.trace.total }

// Version implements agent.Listener.
func (l *listener) Version() string { return l.trace.version }

// Judge implements agent.Listener.
func (l *listener) Judge(o verdict.Outcome, now time.Time) verdict.Verdict {
	j := judgement{line: l.profile.line, Outcome: o, now: now, trace: &l.trace, listened: l.own}
	if !l.own || len(o.Stdout.Head) > 0 && j.line.isAPI() {
		j.readSaved() // what the user has asked for is in the output
	}
	return j.verdict()
}
