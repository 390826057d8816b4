package enginetest

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Caller is the profile of a scripted caller. What it complains of is its verdict: the class of its last line on stderr.
type Caller struct {
	Facts  agent.CallerInfo
	Person bool
	Blind  bool // nothing can be asked on the side
	// Limit and Done answer what is asked on the side.
	Limit verdict.Hint
	Done  *agent.Effect
	Fails error // of what is asked
}

func (c *Caller) Name() string   { return "gh" }
func (c *Caller) Headless() bool { return !c.Person }
func (c *Caller) Reads() bool    { return true }

// CallerInfo implements [agent.Caller].
func (c *Caller) CallerInfo() agent.CallerInfo {
	info := c.Facts
	if !c.Blind {
		info.CheckLimit, info.Verify = c.checkLimit, c.verify
	}
	return info
}

// Judge implements [agent.Profile].
func (c *Caller) Judge(o verdict.Outcome, _ time.Time) verdict.Verdict {
	if o.ExitCode == 0 && o.Signal == "" {
		return verdict.Verdict{Class: verdict.OK}
	}
	words := strings.Fields(o.Stderr.Text())
	v := verdict.Verdict{Class: verdict.Unknown, Evidence: o.Stderr.Text()}
	if len(words) > 0 {
		v.Class = verdict.Class(words[0])
		v.Retryable = v.Class.Retryable()
	}
	if len(words) > 1 && words[1] == "unsent" {
		v.Sent = verdict.SentNo
	}
	return v
}

// Listen implements [agent.Caller].
func (c *Caller) Listen() agent.Listener { return &listener{Caller: c} }

type listener struct {
	*Caller
	requests int
}

func (l *listener) Env() []string   { return []string{"DEBUG=api"} }
func (l *listener) Requests() int   { return l.requests }
func (l *listener) Version() string { return "2.0.0" }

// Stderr counts lines that begin with * as requests, and passes on the others.
func (l *listener) Stderr(user io.Writer) io.WriteCloser { return &stderr{l: l, user: user} }

type stderr struct {
	l    *listener
	user io.Writer
	rest string
}

func (s *stderr) Write(p []byte) (int, error) {
	s.rest += string(p)
	for {
		line, rest, ok := strings.Cut(s.rest, "\n")
		if !ok {
			return len(p), nil
		}
		s.pass(line + "\n")
		s.rest = rest
	}
}

func (s *stderr) pass(line string) {
	if strings.HasPrefix(line, "*") {
		s.l.requests++
		return
	}
	io.WriteString(s.user, line)
}

func (s *stderr) Close() error {
	if s.rest != "" {
		s.pass(s.rest)
	}
	return nil
}

func (c *Caller) checkLimit(ctx context.Context, ask agent.Ask) (verdict.Hint, error) {
	_, err := ask(ctx, "api", "rate_limit")
	return c.Limit, err
}

func (c *Caller) verify(ctx context.Context, since time.Time, ask agent.Ask) (agent.Effect, error) {
	if _, err := ask(ctx, "issue", "list"); err != nil {
		return agent.Effect{}, err
	}
	return *c.Done, c.Fails
}
