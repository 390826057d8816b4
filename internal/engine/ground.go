package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine/admission"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/engine/input"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/worktree"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// ground is the tree that an invocation works in, where it is to have one of its own. It is made when the first attempt is let in; a nil ground is the caller's own directory.
type ground struct {
	settings call.Worktree
	dir      string // the caller's
	store    *worktree.Store
	tree     *worktree.Tree // as it is planned, until it is entered
	base     string         // what a fresh start is made from
	entered  bool
	unused   bool // no run has worked in it
	done     bool // an earlier run has done the work of a task, and was killed before that was on record: it must not be done twice
	last     int  // the attempt that has worked in it last
	kept     []string
	result   *belaytype.Worktree // what has become of the work; nil as long as it is not over
}

// newGround finds, before anything is started, what a tree would be made from. The error is a [*belaytype.UsageError].
func newGround(s *call.Settings, dir string) (g *ground, err error) {
	if !s.Worktree.On {
		return nil, nil
	}
	starter := s.StarterInUse()
	g = &ground{settings: s.Worktree, dir: dir}
	g.store = &worktree.Store{Start: func(spec supervise.Spec) (supervise.Exit, error) {
		return starter.Run(spec, func(call.Process) {})
	}}
	g.tree, err = g.store.Plan(dir, s.Worktree.Ref, s.Worktree.Dir)
	if err == nil && g.settings.Land && g.tree.Onto == "" {
		err = errors.New("no branch is checked out that the work could be landed on")
	}
	if err != nil {
		return nil, &belaytype.UsageError{Err: message.Error("a tree of its own cannot be made: "+err.Error(), err)}
	}
	g.base = g.tree.Base
	return g, nil
}

// CheckWorktree reports why commands in a directory cannot work in trees of their own, as [Runner.Worktree] says.
func (r *Runner) CheckWorktree(dir string) error {
	s := (*call.Settings)(r)
	c := call.Call{Settings: s, Command: call.Command{Command: belaytype.Command{Dir: dir}}}
	_, err := newGround(s, c.Dir())
	return err
}

// ready makes the ground ready for an attempt of the candidate: n is its number. One that goes on with a session finds it as it was left, any other as it was made.
func (g *ground) ready(cand *candidate, n int) (refused *admission.Refusal) {
	if g == nil {
		return nil
	}
	session, goesOn := cand.kind.continues()
	goesOn = goesOn || cand.fallback != "" && cand.call.Settings.FallbackAfterWork
	var err error
	switch {
	case !g.entered:
		err = g.enter(cand, session, goesOn)
	case g.last > 0 && g.last != n:
		err = g.renew(cand, goesOn)
	}
	if err == nil {
		g.last = n
		g.move(cand)
		return nil
	}
	why, code := err.Error(), CodeFailed
	if _, usage := errors.AsType[*belaytype.UsageError](err); usage {
		code = CodeUsage
	}
	return &admission.Refusal{
		Code: -1, StopCode: code, Barred: true, Stop: &retry.Error{Cause: err},
		Message: fmt.Sprintf("%s was not started: %s", cand.call.Command.Name(), why),
		Verdict: verdict.Verdict{Class: verdict.Unknown, Rule: "worktree", Evidence: why, Sent: verdict.SentNo},
	}
}

// enter finds or makes the tree, once.
func (g *ground) enter(cand *candidate, session string, goesOn bool) (err error) {
	c := cand.call
	if c.State == nil {
		return errors.New("trees are kept in the state directory, which cannot be used")
	}
	g.store.Dir, g.store.Run = filepath.Join(c.State.Dir, "trees"), c.ID
	list, _ := g.store.List()
	t, task := g.tree, c.Settings.Task.ID
	t.ID, t.Run, t.Name, t.Task = c.ID, c.ID, cmp.Or(c.Settings.Labels.Name, task), task
	if g.ofTask() {
		sum := sha256.Sum256([]byte(g.settings.Key))
		t.ID = hex.EncodeToString(sum[:8])
	} else if session != "" {
		dir := c.State.Session(c.Profile.Name(), session).Dir
		n := slices.IndexFunc(list, func(was *worktree.Tree) bool { return was.Path != "" && was.Dir() == dir })
		switch {
		case n >= 0:
			t.ID, t.Common = list[n].ID, list[n].Common
		case !c.Settings.Resume.OrNew:
			return &belaytype.UsageError{Err: fmt.Errorf("session %s has not worked in a tree of its own", session)}
		}
	}
	if err = t.Enter(); err != nil {
		return err
	}
	g.entered = true
	switch t.State {
	case worktree.Making:
		g.unused = true
	case worktree.Failed, worktree.Conflict: // it is tried again, on what is there now
	default:
		g.base = t.Base
		g.done = g.ofTask() && !goesOn && (t.State == worktree.Done || t.State == worktree.Landed)
	}
	return g.renew(cand, goesOn)
}

// ofTask reports whether it is that of a task.
func (g *ground) ofTask() bool { return g != nil && g.settings.Key != "" }

// renew makes the tree ready for the next attempt: as it was left, or as it was made.
func (g *ground) renew(cand *candidate, goesOn bool) error {
	base, state := g.base, worktree.Working
	if g.done {
		state = g.tree.State
	}
	if goesOn || g.done {
		base = ""
	}
	var setup func() error
	if g.settings.Setup != "" {
		setup = func() error { return g.setUp(cand) }
	}
	moved, err := g.tree.Renew(g.last, base, state, setup)
	if moved != "" {
		g.kept = append(g.kept, moved)
	}
	return err
}

// setUp runs the user's line for a new tree.
func (g *ground) setUp(cand *candidate) error {
	g.move(cand)
	c := cand.call
	c.Live.Change(func(rec *supervise.Record) { rec.Activity = "worktree-setup" })
	var f finding
	l := launch{args: supervise.Shell(g.settings.Setup), env: []string{"BELAY_CALLER_DIR=" + g.dir}, input: input.None{}}
	f.shell(cand, l, supervise.Spec{RunID: c.ID + supervise.SetupPart, Placement: supervise.OwnSession})
	switch cause := context.Cause(cand.pace.Ctx); {
	case cause != nil && !f.unmade:
		return cause
	case f.Passed:
		return nil
	case !f.unmade:
		f.how += ": " + cmp.Or(verdict.LastLines(f.Output, 1, 200), "it has printed nothing")
	}
	return fmt.Errorf("the setup of its tree %s", f.how)
}

// move lets a candidate work in the tree, where it would have worked in the caller's.
func (g *ground) move(cand *candidate) {
	c := cand.call
	if cand.dir == "" {
		cand.dir = c.Dir()
		c.CallerDir = g.dir
		c.Env = worktree.Environ(c.Env)
	}
	if in, err := filepath.Rel(g.dir, cand.dir); err == nil && filepath.IsLocal(in) {
		c.Command.Dir = filepath.Join(g.tree.Dir(), in)
	}
}

// leave ends the work: what was done is put on its branch, and landed if that is asked for. A success that cannot be is none. It returns why there is no further attempt.
func (g *ground) leave(f *finisher, n int, j *judgement, stop *retry.Error) *retry.Error {
	if g == nil || !g.entered {
		return stop
	}
	t, class := g.tree, j.verdict.Class
	defer t.Release()
	if g.unused && g.last == 0 && len(t.Saved) == 0 && class != verdict.OK && t.Drop() == nil {
		return stop
	}
	turn := f.cand.call.Traits.Kind == call.AgentTurn // whose session can continue
	var nested []string
	var err error
	switch {
	case class == verdict.OK:
		nested, err = t.Commit(g.message(f, j), worktree.Done)
		if err == nil && g.settings.Land {
			err = g.land(f, n, j)
		}
	case class == verdict.Interrupted, turn && (class.Throttle() || j.verdict.Retryable):
		err = t.Save(fmt.Sprintf("attempt-%d", n), worktree.Interrupted)
	default:
		nested, err = t.Commit(g.message(f, j), worktree.Failed)
	}
	g.result = t.Work()
	g.result.Nested, g.result.Kept = nested, g.kept
	if err == nil {
		return stop
	}
	if j.message = err.Error(); class != verdict.OK {
		return stop
	}
	j.verdict.Class, j.verdict.Rule, j.verdict.Evidence = verdict.Conflict, "worktree", err.Error()
	if _, ok := errors.AsType[*worktree.NotLanded](err); !ok {
		j.verdict.Class, j.stopCode = verdict.Unknown, CodeFailed
		j.message = fmt.Sprintf("the work could not be committed, and is in %s: %v", t.Path, err)
		if cause := f.decider.ended(); cause != nil {
			say := func(why string) string { return "stopped before the work was landed: " + why }
			j.cutShort(f.cand.call, say, cause)
		}
	}
	return &retry.Error{Cause: retry.ErrPermanent}
}

// land brings the work into its branch. What has come together only now is checked again.
func (g *ground) land(f *finisher, n int, j *judgement) error {
	var again func() error
	if k := f.inv.checker; k != nil {
		again = func() error {
			found := k.look(f.cand, n, j.output(), nil)
			if found.Passed {
				return nil
			}
			return &worktree.NotLanded{Why: "with what was committed there meanwhile, the check " + found.how}
		}
	}
	f.cand.call.Live.Change(func(rec *supervise.Record) { rec.Activity = "landing" })
	return g.tree.Land(f.cand.pace.Ctx, again)
}

// message is that of the commit: which run it is of, what that has cost, and how it was checked.
func (g *ground) message(f *finisher, j *judgement) string {
	c := f.cand.call
	var r belaytype.Result
	f.cand.kind.account(&r)
	text := c.Command.Name()
	if name := cmp.Or(c.Settings.Labels.Name, c.Settings.Task.ID); name != "" {
		text += ": " + name
	}
	if j.verdict.Class != verdict.OK {
		text += " (unfinished)"
	}
	text += "\n\nBelay-Run: " + c.ID
	if cost := r.Usage.CostUSD; cost != nil && r.Usage.OutputTokens > 0 {
		text += fmt.Sprintf("\nBelay-Cost: $%.4f", *cost)
	}
	if k := f.inv.checker; k != nil && k.last != nil && k.last.Command != "" {
		how := map[bool]string{true: "passed", false: "failed"}[k.last.Passed]
		text += fmt.Sprintf("\nBelay-Check: %s (%s)", strings.Join(strings.Fields(k.last.Command), " "), how)
	}
	return strings.ReplaceAll(redact.Text(text), "\x00", "")
}
