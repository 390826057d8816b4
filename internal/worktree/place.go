package worktree

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// Plan is a tree that could be made of a directory; none is, and what is not possible is refused. ref is the commit to begin from, empty for the one that is
// checked out, and below the directory for the tree, empty for that of the store.
func (s *Store) Plan(dir, ref, below string) (*Tree, error) {
	t := &Tree{store: s, below: below}
	g, name := s.git(dir), printable.Line(dir)
	var err error
	asked := func(what string) (text string) {
		if err == nil {
			text, err = g.call("rev-parse", what)
		}
		return text
	}
	bare, outer := asked("--is-bare-repository"), asked("--show-superproject-working-tree")
	if bare != "true" {
		t.Top, t.Prefix = asked("--show-toplevel"), asked("--show-prefix")
	}
	if err == nil {
		t.Common, t.Onto, err = g.at()
	}
	t.Base = g.object(cmp.Or(ref, "HEAD") + "^{commit}")
	switch {
	case err != nil:
		return nil, message.Error(name+" is not in a git repository", err)
	case bare == "true":
		return nil, errors.New(name + " is a bare repository, which has no work tree")
	case outer != "":
		return nil, fmt.Errorf("%s is in a submodule. Start in the repository around it, %s", name, printable.Line(outer))
	case t.Base == "" && cmp.Or(ref, "HEAD") == "HEAD":
		return nil, errors.New("the repository has no commit yet")
	case t.Base == "":
		return nil, fmt.Errorf("%s names no commit", printable.Line(ref))
	case t.Prefix != "" && g.try("cat-file", "-e", t.Base+":"+t.Prefix) != nil:
		return nil, fmt.Errorf("%s is not in the commit that the tree would be made from", printable.Line(t.Prefix))
	case g.object("refs/heads/belay") != "":
		return nil, errors.New("a branch called belay is in the way of belay/…. To rename it: git branch -m belay NEWNAME")
	}
	if below == "" {
		return t, nil
	}
	if t.below, err = filepath.Abs(below); err != nil {
		return nil, err
	}
	g.dir = t.Top
	ignored, _ := errors.AsType[*failure](g.try("check-ignore", "--quiet", "--", filepath.Join(t.below, "x")))
	if ignored != nil && ignored.code == 1 { // it is 128 outside of the repository
		const what = "%s is in the repository, which does not ignore it. Add it to .gitignore, or choose another directory"
		return nil, fmt.Errorf(what, printable.Line(below))
	}
	return t, nil
}

// branchName is the name of a branch for a run: of what the run is called, as far as git takes that, or of its id.
func branchName(name, run string) string {
	text := []rune(regexp.MustCompile(`[^\pL\pN_]+`).ReplaceAllString(name, "-"))
	return "belay/" + cmp.Or(strings.Trim(string(text[:min(len(text), 60)]), "-"), printable.ShortID(run))
}

// Enter takes the tree that was made for the same ID, as an earlier run has left it, or this one, which is yet to be made.
func (t *Tree) Enter() error {
	plan := *t
	if err := t.Take(time.Minute); err != nil { // one may be saving what a killed run has left
		return err
	}
	if t.Common != plan.Common {
		t.Release()
		return fmt.Errorf("it has a tree of another repository. To drop that: belay trees drop %s", t.Run)
	}
	t.Run, t.Name, t.below = plan.Run, plan.Name, plan.below
	return nil
}

// Renew makes the tree ready for an attempt: as a commit has it, or as it was left if base is empty. What the last attempt has left is kept; that is 0 if none of this run has
// worked in it. Where not all can be kept, the tree stays as it is, and this one is at another path: moved says why. setup makes a new tree ready, unless it is nil. The tree has
// the state then.
func (t *Tree) Renew(last int, base string, state State, setup func() error) (moved string, err error) {
	label := "before"
	if last > 0 {
		label = fmt.Sprintf("attempt-%d", last)
	}
	var s snapshot
	switch lost, whole := t.sound(), t.State != Making; {
	case whole && lost == nil && base == "":
		if last > 0 {
			_, err = t.keep(label)
		}
		return "", errors.Join(err, t.save(state))
	case exists(t.Path) && (whole || lost == nil): // else there is nothing in it
		s, err = t.keep(label)
		switch moved = t.unsaved(&s, err); {
		case err == nil && !whole: // it has what its setup has made
			moved = ""
		case moved != "":
			err = t.leave()
		case base == t.Base && s.head == base && s.whole == s.commit && (s.commit == base || s.tree == t.Made):
			return "", t.save(state)
		}
	}
	tip := t.repo().object(t.ref())
	if base != "" && err == nil {
		err = t.hold(label, tip, cmp.Or(s.whole, t.Base))
		t.Base, tip = base, base
	}
	if err == nil {
		err = t.remake(cmp.Or(tip, t.Base))
	}
	if err == nil {
		err = t.setUp(setup)
	}
	if err == nil {
		err = t.save(state)
	}
	return moved, err
}

// reserve makes the branch, under a name that is free.
func (t *Tree) reserve() (err error) {
	taken := func(branch string) bool { return t.repo().object("refs/heads/"+branch) != "" }
	for {
		t.Branch = free(branchName(t.Name, t.Run), taken)
		if err = t.save(Making); err == nil {
			err = t.repo().try("update-ref", "-m", "belay: new tree", t.ref(), t.Base, "")
		}
		if err == nil || !taken(t.Branch) { // else another was quicker
			return err
		}
	}
}

// remake makes the tree of its branch, which is at a commit from then on, at its path, where nothing is lost by that. It is being made until it has another state.
func (t *Tree) remake(tip string) (err error) {
	if t.Branch == "" {
		err = t.reserve()
	}
	if t.Path == "" && err == nil {
		below := cmp.Or(t.below, t.store.Dir)
		if err = os.MkdirAll(below, 0o700); err == nil {
			below, err = filepath.EvalSymlinks(below)
		}
		t.Path = free(filepath.Join(below, filepath.Base(t.Top)+"-"+printable.ShortID(t.ID)), exists)
	}
	if err == nil {
		err = t.save(Making)
	}
	if err == nil && exists(t.Path) {
		err = t.remove()
	}
	if err == nil {
		err = t.repo().try("update-ref", "-m", "belay: fresh tree", t.ref(), tip)
	}
	if err == nil {
		err = t.register("add", "--quiet", "--force", "--", t.Path, t.Branch)
	}
	if err == nil {
		t.Admin, err = t.store.git(t.Path).call("rev-parse", "--absolute-git-dir")
	}
	if err == nil {
		err = t.save(Making)
	}
	return err
}

// leave leaves a tree to itself as it is, off the branch, and remembers it as another one: this is one that has yet to be made, at another path.
func (t *Tree) leave() error {
	t.git().try("update-ref", "--no-deref", "HEAD", "HEAD^{commit}") // without a commit it has none to lose
	left := *t
	left.slot, left.Branch, left.Saved = nil, "", nil
	left.ID = free(t.ID+"-kept", func(id string) bool { return exists(t.store.file(id)) })
	t.Path, t.Admin = free(t.Path, exists), ""
	return left.save(Kept)
}
