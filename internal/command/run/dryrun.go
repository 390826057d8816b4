package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/budget"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/retry"
)

// dryRun says what would be done, as far as that can be known without doing it.
func dryRun(ctx context.Context, w io.Writer, s *config.Settings, r *engine.Runner, c *belaytype.Command) error {
	inv, err := r.Prepare(ctx, *c)
	if err != nil {
		return err
	}
	p, err := inv.Preview()
	if err != nil {
		return command.Usage(err, "")
	}
	path, err := supervise.Look(p.Args[0], c.Dir)
	if err != nil {
		path = err.Error()
	}
	line := func(name, format string, args ...any) {
		term.Printf(w, "%-10s "+format+"\n", append([]any{name + ":"}, args...)...)
	}
	line("command", "%q\n           %s", c.Args, path)
	switch {
	case p.Unknown != "":
		line("started", "as you wrote it, because belay does not know its option %s", p.Unknown)
	case !slices.Equal(p.Args, c.Args):
		line("started", "%q", p.Args)
	}
	if len(p.Env) > 0 {
		line("with", "%s", strings.Join(p.Env, " "))
	}
	line("profile", "%s", r.Profile.Name())
	line("retries", "%s", schedule(p.Policy))
	if p.Policy.MaxRetries > 0 {
		line("throttles", "%s", throttles(p, r))
		if inner := innerRetries(r, p.Policy); inner != "" {
			line("inside", "%s", inner)
		}
	} else if (p.Gate != "" || r.Scope != "") && !r.NoWait {
		line("waits", "%s", config.Waits(p.Policy))
	}
	line("limits", "%s", limits(p))
	line("gate", "%s", gateNow(p.Gate))
	for _, b := range budget.BudgetsNow(r.Budgets) {
		line("budget", "%s", b)
	}
	if r.Check.Line != "" {
		line("check", "%s", checkPreview(r))
	}
	if w := &r.Worktree; w.On {
		line("worktree", "made from %s, on a branch belay/…", w.Ref)
	}
	for _, f := range p.Fallbacks {
		if f.Refused != "" {
			line("fallback", "%s", message.FallbackRefused(f.Name, f.Refused))
			continue
		}
		line("fallback", "%s\n           %s", fmt.Sprintf("%s, as %q", f.Name, f.Args), gateNow(f.Gate))
	}
	switch {
	case p.Session != "":
		continues := p.Session + " continues"
		if p.Resume != "" {
			continues += ", which sends about " + p.Resume
		}
		line("session", "%s", continues)
	case r.Resume.Session != "":
		line("session", "%s", "none on record for this directory")
	}
	for i := range config.Table {
		name := config.Table[i].Name
		if from := s.From(name); from != "" && name != "dry-run" {
			line("set", "%s = %s (%s)", name, s.Text(name), from)
		}
	}
	for _, i := range s.Ignored {
		line("ignored", "%s", i)
	}
	return nil
}

// schedule shows the delays before the first retries.
func schedule(p retry.Policy) string {
	if p.MaxRetries <= 0 {
		return "none"
	}
	const shown = 6
	var delays []string
	for n := range min(p.MaxRetries, shown) {
		delays = append(delays, term.Span(p.Backoff(n)))
	}
	if p.MaxRetries > shown {
		delays = append(delays, "…")
	}
	return fmt.Sprintf("%d, after %s; jitter %v, %s", p.MaxRetries, strings.Join(delays, ", "), p.Jitter, config.Waits(p))
}

// throttles says what bounds the retries for a limit, and how long they wait for one that names no time.
func throttles(p belaytype.Preview, r *engine.Runner) string {
	text := config.Throttles(p.Policy, r.AtMost.Starts)
	if p.Gate != "" {
		return message.Sentences(text, "a limit that names no time holds the gate for "+setup.Holds(r.Gate.Settings))
	}
	return text
}

// innerRetries says what becomes of the retries that an agent makes by itself; empty if the command is none.
func innerRetries(r *engine.Runner, p retry.Policy) string {
	a, ok := r.Profile.(agent.Agent)
	switch {
	case !ok || !a.Headless():
		return ""
	case p.CountThrottles:
		return fmt.Sprintf("%s's own retries count, and it is stopped when none is left", a.Name())
	case a.Info().Own.Set && len(r.Fallbacks) == 0:
		return fmt.Sprintf("%s retries by itself as its own settings say", a.Name())
	}
	return fmt.Sprintf("%s's own retries count, and may take as long as belay's would (%s)", a.Name(), printable.Span(p.TotalDelay()))
}

// limits are how long it may take.
func limits(p belaytype.Preview) string {
	var list []string
	add := func(d time.Duration, what string) {
		if d > 0 {
			list = append(list, printable.Span(d)+what)
		}
	}
	add(p.Deadline, " per attempt")
	add(p.Policy.TotalTimeout, " in all")
	add(p.Stall, " without activity")
	if p.ToolStall != p.Stall {
		add(p.ToolStall, " while a tool is running")
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// gateNow says which gate it is, and what it keeps callers out for.
func gateNow(key string) string {
	if key == "" {
		return "none"
	}
	gates, err := command.Gates()
	if err != nil {
		return key
	}
	for _, g := range gates {
		if g.Key == key {
			state, _, until, reason := overview.Columns(g.State, time.Now())
			if !until.IsZero() {
				state += " until " + message.When(until)
			}
			return fmt.Sprintf("%s, %s: %s", key, state, reason)
		}
	}
	return key + ", healthy"
}
