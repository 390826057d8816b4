package gh

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
)

type ask = agent.Ask

// verify is for agent.CallerInfo, for issues, pull requests and comments that were to be created.
//
// What counts is made after the attempt began, by GitHub's clock, and says the same: one like it may have been made
// before. It is looked for in lists, not by search, whose index lags behind. That it is not there is believed only when
// GitHub, which ends a request after 10 seconds, cannot be at work on it any more.
func (p *Profile) verify(ctx context.Context, since time.Time, ask ask) (agent.Effect, error) {
	look, err := p.line.finder()
	if err != nil {
		return agent.Effect{}, err
	}
	host := hostOf(p.line, p.env)
	skew, err := clockSkew(ctx, host, ask)
	if err != nil {
		return agent.Effect{}, fmt.Errorf("GitHub's clock could not be read: %w", err)
	}
	from := since.Add(skew).Add(-time.Second).Truncate(time.Second) // GitHub's times have whole seconds
	for _, pause := range pauses(host) {
		if err := retry.Sleep(ctx, pause); err != nil {
			return agent.Effect{}, err
		}
		url, err := tryLook(ctx, pauses(host)[1], func() (string, error) { return look(ctx, from, ask) })
		switch {
		case err != nil:
			return agent.Effect{}, err
		case url == "":
		case p.line.followUpOption() != "":
			return agent.Effect{}, fmt.Errorf("it is there (%s), but whether %s was done too is not known", url, p.line.followUpOption())
		default:
			return agent.Effect{Done: true, Output: url + "\n"}, nil
		}
	}
	return agent.Effect{}, nil
}

// pauses are the times before each look. Nothing is behind a server of this machine that could come later.
func pauses(host string) []time.Duration {
	if strings.HasSuffix(host, ".localhost") {
		return []time.Duration{0, 200 * time.Millisecond}
	}
	return []time.Duration{0, 3 * time.Second, 8 * time.Second}
}

// tryLook looks up to five times, with pauses that double: it is a bad moment.
func tryLook(ctx context.Context, pause time.Duration, look func() (string, error)) (url string, err error) {
	for try := range 5 {
		if try > 0 {
			if stop := retry.Sleep(ctx, retry.Policy{BaseDelay: pause}.Backoff(try-1)); stop != nil {
				return "", stop
			}
		}
		if url, err = look(); err == nil || errors.Is(err, errUnsure) {
			return url, err
		}
	}
	return "", err
}

var errUnsure = errors.New("what is there does not tell")

// finder returns what looks for the effect of a command: the URL of what it has made, or nothing.
func (l *line) finder() (func(context.Context, time.Time, ask) (string, error), error) {
	if !l.full {
		return nil, fmt.Errorf("gh %s is not understood", l.command)
	}
	switch l.command {
	case "issue create":
		return l.lookForIssue, nil
	case "pr create":
		return l.lookForPull, nil
	case "issue comment", "pr comment":
		if l.opts.Has("--edit-last") || l.opts.Has("--delete-last") {
			return nil, errors.New("an edit leaves nothing to look for")
		}
		if len(l.opts.Words()) == 1 {
			return l.lookForComment, nil
		}
	}
	return nil, fmt.Errorf("there is no way to look for what gh %s does", l.command)
}

// followUpOption names what a command does after it has created something, in requests of their own; empty if nothing.
func (l *line) followUpOption() string {
	names := []string{"--assignee", "--project", "--type", "--parent", "--blocked-by", "--blocking", "--attach"}
	if l.command == "pr create" {
		names = append(names, "--reviewer", "--label", "--milestone")
	}
	for _, name := range names {
		if l.opts.Has(name) {
			return name
		}
	}
	return ""
}

// clockSkew is how far GitHub's clock is ahead of ours. A small difference is none: the header has whole seconds.
func clockSkew(ctx context.Context, host string, ask ask) (time.Duration, error) {
	var out []byte
	var err error
	for _, endpoint := range []string{"rate_limit", "rate_limit", "/"} { // a server of one's own may have no limits
		if out, err = ask(ctx, "api", "--include", "--silent", "--hostname", host, endpoint); err == nil {
			break
		}
	}
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(out)) {
		if value, ok := strings.CutPrefix(line, "Date: "); ok {
			at, err := time.Parse(time.RFC1123, strings.TrimSpace(value))
			if err != nil {
				return 0, err
			}
			skew := time.Until(at)
			if skew.Abs() < 2500*time.Millisecond {
				skew = 0
			}
			return skew, nil
		}
	}
	return 0, errors.New("it does not tell the time")
}
