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
	order    worktree.Order
	place    worktree.Place
	store    *worktree.Store
	tree     *worktree.Tree
	again    bool // an earlier run has worked in it
	last     int  // the attempt that has worked in it last
	kept     []string
	result   *belaytype.Worktree
}

// setupMark ends the id that marks what a setup has started.
const setupMark = "-setup"

// newGround finds, before anything is started, what a tree would be made from. The error is a [*belaytype.UsageError].
func newGround(s *call.Settings, dir string) (*ground, error) {
	if !s.Worktree.On {
		return nil, nil
	}
	g := &ground{settings: s.Worktree, order: worktree.Order{Dir: dir, Ref: s.Worktree.Ref, Below: s.Worktree.Dir}}
	starter := s.StarterInUse()
	g.store = &worktree.Store{Start: func(spec supervise.Spec) (supervise.Exit, error) {
		return starter.Run(spec, func(call.Process) {})
	}}
	var err error
	if g.place, err = g.store.Check(&g.order); err == nil && g.settings.Land && g.place.Onto == "" {
		err = errors.New("no branch is checked out that the work could be landed on")
	}
	if err == nil && s.Worktree.Key == "" && s.Resume.Session == belaytype.LastSession {
		err = errors.New("the last session of this directory has no tree of its own. Name a session that has one")
	}
	if err != nil {
		return nil, &belaytype.UsageError{Err: message.Error("a tree of its own cannot be made: "+err.Error(), err)}
	}
	return g, nil
}

// CheckWorktree reports why commands in a directory cannot work in trees of their own, as [Runner.Worktree] says.
func (r *Runner) CheckWorktree(dir string) error {
	s := (*call.Settings)(r)
	_, err := newGround(s, (&call.Call{Settings: s, Command: call.Command{Command: belaytype.Command{Dir: dir}}}).Dir())
	return err
}

// ready makes the ground ready for an attempt of the candidate: n is its number. One that goes on with a session finds it as it was left, any other as it was made.
func (g *ground) ready(cand *candidate, n int) (refused *admission.Refusal) {
	if g == nil {
		return nil
	}
	goesOn := cand.kind.continues() || cand.fallback != "" && cand.call.Settings.FallbackAfterWork
	err := g.enter(cand, goesOn)
	if err == nil && g.last > 0 && g.last != n {
		err = g.between(cand, fmt.Sprintf("attempt-%d", g.last), g.place.Base, goesOn)
	}
	if err != nil {
		why, code := err.Error(), CodeFailed
		if _, usage := errors.AsType[*belaytype.UsageError](err); usage {
			code = CodeUsage
		}
		return &admission.Refusal{Code: -1, StopCode: code, Message: fmt.Sprintf("%s was not started: %s", cand.call.Command.Name(), why), Barred: true,
			Stop: &retry.Error{Cause: err}, Verdict: verdict.Verdict{Class: verdict.Unknown, Rule: "worktree", Evidence: why, Sent: verdict.SentNo}}
	}
	g.last = n
	g.move(cand)
	return nil
}

// enter finds or makes the tree, once.
func (g *ground) enter(cand *candidate, goesOn bool) (err error) {
	c := cand.call
	if g.tree != nil {
		return nil
	}
	if c.State == nil {
		return errors.New("trees are kept in the state directory, which cannot be used")
	}
	g.store.Dir, g.store.Run = filepath.Join(c.State.Dir, "trees"), c.ID
	g.order.ID, g.order.Run, g.order.Name, g.order.Task = c.ID, c.ID, cmp.Or(c.Settings.Labels.Name, c.Settings.Task.ID), c.Settings.Task.ID
	if key := g.settings.Key; key != "" {
		sum := sha256.Sum256([]byte(key))
		g.order.ID = hex.EncodeToString(sum[:8])
	} else if goesOn {
		if g.order.ID, err = g.ofSession(c); err != nil {
			return err
		}
	}
	g.store.Rescue()
	if g.tree, g.again, err = g.store.Enter(&g.order, g.place); err != nil {
		return err
	}
	if !g.again {
		return g.setUp(cand)
	}
	base := g.place.Base
	if !slices.Contains([]worktree.State{worktree.Failed, worktree.Conflict}, g.tree.State) {
		base = g.tree.Base // it goes on; otherwise it is tried again, on what is there now
	}
	if g.place = g.tree.Place; goesOn || g.isDone() {
		return nil
	}
	return g.between(cand, "before", base, false)
}

// ofSession is the id of the tree that a session has worked in.
func (g *ground) ofSession(c *call.Call) (string, error) {
	id := c.Settings.Resume.Session
	dir := c.State.Session(c.Profile.Name(), id).Dir
	list, err := g.store.List()
	for _, t := range list {
		if err == nil && t.Path != "" && t.Dir() == dir {
			return t.ID, nil
		}
	}
	if err == nil && c.Settings.Resume.OrNew {
		return c.ID, nil
	}
	return "", cmp.Or(err, error(&belaytype.UsageError{Err: fmt.Errorf("session %s has not worked in a tree of its own", id)}))
}

// work is what has become of the work; nil as long as it is not over.
func (g *ground) work() *belaytype.Worktree {
	if g == nil {
		return nil
	}
	return g.result
}

// ofTask reports whether it is that of a task.
func (g *ground) ofTask() bool { return g != nil && g.settings.Key != "" }

// isDone reports whether an earlier run has done the work of a task and was killed before that was on record: it must not be done twice.
func (g *ground) isDone() bool {
	return g.ofTask() && g.again && (g.tree.State == worktree.Done || g.tree.State == worktree.Landed)
}

// between is what becomes of the ground between two attempts.
func (g *ground) between(cand *candidate, label, base string, goesOn bool) error {
	if goesOn {
		return g.tree.Save(label)
	}
	unready, moved, err := g.tree.Fresh(label, base)
	if moved != "" {
		g.kept = append(g.kept, moved)
	}
	g.place = g.tree.Place
	if err == nil && unready {
		err = g.setUp(cand)
	}
	return err
}

// setUp runs the user's line for a new tree.
func (g *ground) setUp(cand *candidate) error {
	g.move(cand)
	c, line := cand.call, g.settings.Setup
	if line == "" {
		return g.tree.Ready(false)
	}
	c.Live.Change(func(rec *supervise.Record) { rec.Activity = "worktree-setup" })
	said := verdict.NewCapture(0, maxFeedback)
	env := append(supervise.Mark(c.Env, c.ID), "BELAY_CALLER_DIR="+g.order.Dir)
	e := cand.supervised(launch{args: supervise.Shell(line), env: env, input: input.None{}, stdout: said, stderr: said},
		supervise.Spec{RunID: c.ID + setupMark, Ladder: supervise.Terminate, Placement: supervise.OwnSession}, func(call.Process) {})
	ended := said.Excerpt()
	switch {
	case !e.started():
		return fmt.Errorf("the setup of its tree could not be started: %w", e.err)
	case context.Cause(cand.pace.Ctx) != nil:
		return context.Cause(cand.pace.Ctx)
	case e.exit.Reason != supervise.Exited || e.exit.ShellCode() != 0:
		text := strings.TrimSpace(verdict.LastLines(string(slices.Concat(ended.Head, ended.Tail)), 1, 200))
		return fmt.Errorf("the setup of its tree failed with exit code %d: %s", e.exit.ShellCode(), cmp.Or(text, "it has printed nothing"))
	}
	return g.tree.Ready(true)
}

// move lets a candidate work in the tree, where it would have worked in the caller's.
func (g *ground) move(cand *candidate) {
	c := cand.call
	if cand.dir == "" {
		cand.dir = c.Dir()
		c.CallerDir = g.order.Dir
		c.Env = worktree.Environ(c.Env)
	}
	if in, err := filepath.Rel(g.order.Dir, cand.dir); err == nil && filepath.IsLocal(in) {
		c.Command.Dir = filepath.Join(g.tree.Dir(), in)
	}
}

// leave ends the work: what was done is put on its branch, and landed if that is asked for. A success that cannot be is none. It returns why there is no further attempt.
func (g *ground) leave(f *finisher, n int, j *judgement, stop *retry.Error) *retry.Error {
	if g == nil || g.tree == nil {
		return stop
	}
	defer g.tree.Release()
	if g.last == 0 && !g.again && j.verdict.Class != verdict.OK { // nothing has worked in it
		if g.tree.Drop() == nil {
			return stop
		}
	}
	state, err := worktree.Failed, error(nil)
	class := j.verdict.Class
	switch {
	case class == verdict.OK:
		state = worktree.Done
	case class == verdict.Interrupted, class.Throttle(), j.verdict.Retryable && f.cand.call.Traits.Kind == call.AgentTurn: // its session continues
		state = worktree.Interrupted
	}
	var nested []string
	if state == worktree.Interrupted {
		err = g.tree.Leave(fmt.Sprintf("attempt-%d", n))
	} else {
		nested, err = g.tree.Commit(g.message(f, n, j), state)
	}
	if err == nil && state == worktree.Done && g.settings.Land {
		err = g.land(f, n, j)
	}
	change := g.tree.Change()
	g.result = &belaytype.Worktree{Path: g.tree.Path, Branch: g.tree.Branch, Base: g.tree.Base, State: string(g.tree.State), Commits: change.Commits, Files: change.Files, Added: change.Added,
		Deleted: change.Deleted, Saved: g.tree.Saved, Nested: nested, Kept: g.kept}
	if g.tree.State == worktree.Landed {
		g.result.LandedOn = g.tree.Onto
	}
	if err == nil {
		return stop
	}
	j.message = err.Error()
	if class != verdict.OK {
		return stop
	}
	j.verdict.Class, j.verdict.Rule, j.verdict.Evidence = verdict.Conflict, "worktree", err.Error()
	if _, ok := errors.AsType[*worktree.NotLanded](err); !ok {
		j.verdict.Class, j.stopCode = verdict.Unknown, CodeFailed
		j.message = fmt.Sprintf("the work could not be committed, and is in %s: %v", g.tree.Path, err)
		if cause := f.decider.ended(); cause != nil {
			j.cutShort(f.cand.call, func(why string) string { return "stopped before the work was landed: " + why }, cause)
		}
	}
	return &retry.Error{Cause: cmp.Or(stopCause(stop), error(retry.ErrPermanent))}
}

func stopCause(stop *retry.Error) error {
	if stop == nil {
		return nil
	}
	return stop.Cause
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
func (g *ground) message(f *finisher, n int, j *judgement) string {
	c := f.cand.call
	var r belaytype.Result
	f.cand.kind.account(&r)
	subject := c.Command.Name()
	if name := cmp.Or(c.Settings.Labels.Name, c.Settings.Task.ID); name != "" {
		subject += ": " + name
	}
	if j.verdict.Class != verdict.OK {
		subject += " (unfinished)"
	}
	text := subject + "\n\nBelay-Run: " + c.ID
	if cost := r.Usage.CostUSD; cost != nil && r.Usage.OutputTokens > 0 {
		text += fmt.Sprintf("\nBelay-Cost: $%.4f", *cost)
	}
	if k := f.inv.checker; k != nil && k.last != nil && k.last.Command != "" {
		how := "failed"
		if k.last.Passed {
			how = "passed"
		}
		text += fmt.Sprintf("\nBelay-Check: %s (%s)", strings.Join(strings.Fields(k.last.Command), " "), how)
	}
	return strings.ReplaceAll(redact.Text(text), "\x00", "")
}
