package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// NotLanded is why a branch is not brought into the one that it came from. Nothing was touched.
type NotLanded struct{ Why string }

func (c *NotLanded) Error() string { return c.Why }

// refuse is a [*NotLanded] because of files.
func refuse(why string, files []string) error {
	return &NotLanded{why + ": " + printable.CutEnd(printable.Line(strings.Join(files, ", ")), 60, "…")}
}

// listed are the files that git lists, behind tabs, when it refuses to replace them.
var listed = regexp.MustCompile(`(?m)^\t(.+)`)

// inTheWay is why git has refused to replace files. It has touched none then.
func inTheWay(err error) error {
	failed, ok := errors.AsType[*failure](err)
	if !ok {
		return err
	}
	var files []string
	for _, found := range listed.FindAllStringSubmatch(failed.said, -1) {
		files = append(files, strings.TrimSpace(found[1]))
	}
	switch {
	case files == nil:
		return &NotLanded{failed.Error()}
	case strings.Contains(failed.said, "untracked"):
		return refuse("files that git does not track are in the way", files)
	}
	return refuse("you have changed the same files", files)
}

// Commit puts all that is in the tree on its branch. nested are repositories in it, which no commit can have.
func (t *Tree) Commit(text string, state State) (nested []string, err error) {
	s, err := t.take(text)
	if err == nil {
		err = t.hold("replaced", s.whole, s.commit)
	}
	if err == nil {
		t.abandon()
		err = t.git().try("update-ref", t.ref(), s.commit)
	}
	if err == nil {
		err = t.git().try("symbolic-ref", "HEAD", t.ref())
	}
	if err == nil {
		err = errors.Join(os.Rename(s.index, filepath.Join(t.Admin, "index")), t.save(state))
	}
	return s.nested, err
}

// unfinished is what git leaves in the directory of a tree when it is interrupted.
const unfinished = "index.lock HEAD.lock MERGE_HEAD MERGE_MSG MERGE_MODE AUTO_MERGE CHERRY_PICK_HEAD REVERT_HEAD" +
	" REBASE_HEAD rebase-merge rebase-apply sequencer BISECT_LOG BISECT_START BISECT_TERMS BISECT_NAMES"

// abandon ends what git was in the middle of. Nothing else works in the tree.
func (t *Tree) abandon() {
	for name := range strings.FieldsSeq(unfinished) {
		os.RemoveAll(filepath.Join(t.Admin, name))
	}
}

// restore puts the tree back on its branch. What was written there since is kept.
func (t *Tree) restore() error {
	t.abandon()
	return t.git().try("checkout", "--quiet", "--force", "--ignore-other-worktrees", t.Branch, "--")
}

// Work is what has become of the work in the tree, and what its branch has changed since it was made.
func (t *Tree) Work() *belaytype.Worktree {
	w := &belaytype.Worktree{Path: t.Path, Branch: t.Branch, Base: t.Base, State: string(t.State), Saved: t.Saved}
	if t.State == Landed {
		w.LandedOn = t.Onto
	}
	n, _ := t.repo().call("rev-list", "--count", t.Base+".."+t.ref())
	w.Commits, _ = strconv.Atoi(n)
	lines, _ := t.repo().names("diff-tree", "-r", "-z", "--numstat", "--no-renames", "--merge-base", t.Base, t.ref())
	for _, line := range lines {
		var added, deleted int
		fmt.Sscan(line, &added, &deleted) // - for what is no text
		w.Files, w.Added, w.Deleted = w.Files+1, w.Added+added, w.Deleted+deleted
	}
	return w
}

// Changed says how much a run has changed: "2 commits, 3 files, +10 −2".
func Changed(w *belaytype.Worktree) string {
	if w.Files == 0 {
		return "nothing changed"
	}
	return fmt.Sprintf("%s, %s, +%d −%d", message.Count(w.Commits, "commit"), message.Count(w.Files, "file"), w.Added, w.Deleted)
}

// Landed reports whether the branch is part of the one that it came from.
func (t *Tree) Landed() bool {
	return t.Onto != "" && t.Branch != "" && t.ancestor(t.ref(), "refs/heads/"+t.Onto)
}

// Land brings the branch into the one that it came from: fast-forward, else rebased, else merged. Where that makes files that no one has checked yet, check, if not nil, says
// what is wrong with them. Landings of one repository go one after the other. A [*NotLanded] says why it was not possible: then nothing was touched but the tree, and that is
// on its branch again. All must be on the branch.
//
// In the user's work tree it changes files as git merge does. What the user has changed, staged, or has there without git's knowledge is never replaced.
func (t *Tree) Land(ctx context.Context, check func() error) error {
	slot, err := t.store.claim(ctx, "landing "+t.Common, 1<<62) // as long as it takes
	if err != nil {
		return err
	}
	defer slot.Free()
	if err = t.save(Landing); err != nil {
		return err
	}
	state := Landed
	if err = t.land(ctx, check); err != nil {
		state = Done
	}
	if refused, ok := errors.AsType[*NotLanded](err); ok {
		refused.Why = fmt.Sprintf("branch %s was not landed on %s, because %s", t.Branch, t.Onto, refused.Why)
		state = Conflict
	}
	return errors.Join(err, t.save(state))
}

// land brings the branch into the one that it came from, as often as that moves meanwhile, or is locked, as by an editor that asks git for its state.
func (t *Tree) land(ctx context.Context, check func() error) error {
	onto := "refs/heads/" + t.Onto
	for round := range 20 {
		old, next := t.repo().object(onto), t.repo().object(t.ref())
		switch {
		case old == "":
			return &NotLanded{"that does not exist any more"}
		case t.ancestor(next, old):
			return nil
		case !t.ancestor(old, next):
			if err := errors.Join(t.combine(ctx, check, old, next), t.restore()); err != nil {
				return err
			}
			next = t.repo().object(t.ref())
		}
		err := t.forward(onto, old, next)
		switch {
		case err == nil || t.repo().object(onto) != old:
		case strings.Contains(err.Error(), "index.lock") && round < 10 && ctx.Err() == nil:
			time.Sleep(300 * time.Millisecond)
		default:
			return inTheWay(err)
		}
	}
	return &NotLanded{"it is changed all the time"}
}

// combine makes one of the work and of what has been committed elsewhere meanwhile, in the tree, and puts the branch there if the check likes it.
func (t *Tree) combine(ctx context.Context, check func() error, old, tip string) error {
	if err := t.join(old, tip); err != nil {
		return err
	}
	next, err := t.git().object("HEAD"), error(nil)
	if check != nil {
		err = check()
		s, lost := t.take("left by the check of run " + t.Run)
		err = errors.Join(err, lost, t.hold("after-check", s.whole, next))
	}
	if err = cmp.Or(err, context.Cause(ctx)); err != nil {
		return err
	}
	t.Base = old
	if err = t.hold("before-landing", tip, next); err == nil {
		err = t.repo().try("update-ref", t.ref(), next, tip)
	}
	return err
}

// join checks out what both are together: rebased, or merged if that has conflicts or the work has merges itself.
func (t *Tree) join(old, tip string) error {
	g := t.git(t.identity()...)
	if err := g.try("checkout", "--quiet", "--detach", "--no-overwrite-ignore", old); err != nil {
		return inTheWay(err)
	}
	merges, err := g.call("rev-list", "--count", "--merges", old+".."+tip)
	if err != nil || merges == "0" && g.try("rebase", "--quiet", old, tip) == nil {
		return err
	}
	t.abandon()
	if err = g.try("checkout", "--quiet", "--force", "--detach", old); err != nil {
		return err
	}
	err = g.try("merge", "--quiet", "--no-ff", "--no-stat", "-m", "Merge branch '"+t.Branch+"'", tip)
	if files, _ := g.names("diff", "--name-only", "-z", "--diff-filter=U"); len(files) > 0 {
		return refuse("both have changed the same lines", files)
	}
	return err
}

// forward brings a branch to a commit that its own is part of, and the work tree that has it checked out, as git merge does. That comes to its end though we are killed: half
// of it would be worse.
func (t *Tree) forward(onto, old, next string) error {
	g := t.store.git(t.checkedOut(onto))
	if g.run = ""; g.dir == "" {
		return t.repo().try("update-ref", "-m", "belay: land "+t.Branch, onto, next, old)
	}
	if err := t.clear(g, old, next); err != nil {
		return err
	}
	return g.try("merge", "--ff-only", "--quiet", "--no-stat", "--no-overwrite-ignore", next)
}

// clear refuses what git does not: where a commit has a file in the place of a directory, git drops what is staged below it.
func (t *Tree) clear(g git, old, next string) error {
	staged, err := g.names("diff", "--cached", "--name-only", "--no-renames", "-z", old, "--")
	added, aerr := g.names("diff-tree", "-r", "-z", "--name-only", "--no-renames", "--diff-filter=A", old, next)
	staged = slices.DeleteFunc(staged, func(file string) bool {
		return !slices.ContainsFunc(added, func(name string) bool {
			return strings.HasPrefix(file, name+"/") || strings.HasPrefix(name, file+"/")
		})
	})
	if len(staged) > 0 {
		return refuse("you have changed the same files", staged)
	}
	return errors.Join(err, aerr)
}

// checkedOut is the work tree that a branch is checked out in; empty if there is none.
func (t *Tree) checkedOut(ref string) string {
	other, _ := t.repo().call("for-each-ref", "--format=%(worktreepath)", ref)
	for _, dir := range []string{t.Top, other} { // git does not know the first where the repository is not in it
		common, branch, err := t.store.git(dir).at()
		if dir != "" && err == nil && "refs/heads/"+branch == ref && common == filepath.Clean(t.Common) {
			return dir
		}
	}
	return ""
}
