package worktree

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/printable"
)

// NotLanded is why a branch is not brought into the one that it came from. Nothing was touched.
type NotLanded struct {
	Branch, Onto, Why string
	Files             []string
}

func (c *NotLanded) Error() string {
	text := c.Why
	if len(c.Files) > 0 {
		text += ": " + printable.CutEnd(printable.Line(strings.Join(c.Files, ", ")), 60, "…")
	}
	return fmt.Sprintf("branch %s was not landed on %s, because %s", c.Branch, c.Onto, text)
}

// Commit puts all that is in the tree on its branch. nested are repositories in it, which no commit can have.
func (t *Tree) Commit(text string, state State) (nested []string, err error) {
	s, err := t.take()
	if err != nil {
		return nil, err
	}
	if s.head == "" { // the agent has begun another history, without a commit
		s.head = cmp.Or(s.tip, t.Base)
	}
	commit := s.head
	if s.tree != t.treeOf(s.head) {
		if commit, err = t.commit(s.tree, text, s.head); err != nil {
			return s.nested, err
		}
	}
	if s.tip != "" && !t.ancestor(s.tip, commit) { // the agent has left the branch, or written it anew
		if err = t.hold("branch", s.tip); err != nil {
			return s.nested, err
		}
	}
	staged, err := t.staged(&s)
	if err == nil && staged != "" {
		err = t.hold("staged", staged)
	}
	if err != nil {
		return s.nested, err
	}
	t.abandon()
	err = t.repo().try("update-ref", "-m", "belay: "+string(state), t.ref(), commit)
	if err == nil {
		err = t.git().try("symbolic-ref", "HEAD", t.ref())
	}
	if err == nil {
		err = os.Rename(s.index, filepath.Join(t.Admin, "index"))
	}
	if err == nil {
		err = t.save(state)
	}
	return s.nested, err
}

// Change is what a branch has changed.
type Change struct {
	Commits, Files, Added, Deleted int
}

// Change is what the tree's branch has changed since it was made.
func (t *Tree) Change() (c Change) {
	base := t.Base
	if found, err := t.repo().call("merge-base", t.Base, t.ref()); err == nil {
		base = found
	}
	if n, err := t.repo().call("rev-list", "--count", base+".."+t.ref()); err == nil {
		c.Commits, _ = strconv.Atoi(n)
	}
	lines, _ := t.repo().names("diff-tree", "-r", "-z", "--numstat", "--no-renames", base, t.ref())
	for _, line := range lines {
		if fields := strings.SplitN(line, "\t", 3); len(fields) == 3 {
			added, _ := strconv.Atoi(fields[0]) // - for what is no text
			deleted, _ := strconv.Atoi(fields[1])
			c.Files, c.Added, c.Deleted = c.Files+1, c.Added+added, c.Deleted+deleted
		}
	}
	return c
}

// Landed reports whether the branch is part of the one that it came from.
func (t *Tree) Landed() bool {
	return t.Onto != "" && t.Branch != "" && t.ancestor(t.ref(), "refs/heads/"+t.Onto)
}

// Land brings the branch into the one that it came from: fast-forward, else rebased, else merged. Where that makes files that no one has checked yet, check, if not nil, says
// what is wrong with them. Landings of one repository go one after the other. A [*NotLanded] says why it was not possible: then nothing was touched but the tree, and that is
// on its branch again.
//
// In the user's work tree it changes files as git merge does. What the user has changed, staged, or has there without git's knowledge is never replaced.
func (t *Tree) Land(ctx context.Context, check func() error) error {
	sum := sha256.Sum256([]byte(t.Common))
	lock, err := flock.OpenAll(filepath.Join(t.store.Dir, hex.EncodeToString(sum[:8])+".landing"))
	if err != nil {
		return err
	}
	defer lock.Close()
	err = flock.Wait(func() (bool, error) { return flock.Try(lock, flock.Exclusive) }, func(time.Duration) error { return context.Cause(ctx) })
	if err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	if err = t.save(Landing); err != nil {
		return err
	}
	const tries = 20 // a branch that moves meanwhile
	for range tries {
		over, err := t.land(ctx, check)
		if c, ok := errors.AsType[*NotLanded](err); ok {
			c.Branch, c.Onto = t.Branch, t.Onto
			t.save(Conflict)
			return c
		}
		if err != nil || over {
			if err != nil {
				t.save(Done)
			}
			return err
		}
	}
	t.save(Conflict)
	return &NotLanded{t.Branch, t.Onto, "it is changed all the time", nil}
}

// land tries once. over is false if the branch that it is to land on has moved meanwhile.
func (t *Tree) land(ctx context.Context, check func() error) (over bool, err error) {
	onto := "refs/heads/" + t.Onto
	old, err := t.repo().call("rev-parse", "--verify", "--quiet", onto+"^{commit}")
	if err != nil {
		return false, &NotLanded{Why: "that does not exist any more"}
	}
	tip, err := t.repo().call("rev-parse", "--verify", "--quiet", t.ref()+"^{commit}")
	if err != nil {
		return false, err
	}
	if t.ancestor(tip, old) {
		return true, t.save(Landed)
	}
	next := tip
	if !t.ancestor(old, tip) {
		if next, err = t.combine(old, tip); err == nil && check != nil {
			err = check()
		}
		if err == nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return false, errors.Join(err, t.restore())
		}
	}
	top := t.checkedOut(onto)
	if top != "" {
		err = t.clear(top, old, next)
	}
	if next != tip {
		if err != nil {
			return false, errors.Join(err, t.restore())
		}
		if err = t.replace(tip, next, old); err != nil {
			return false, err
		}
	}
	if err != nil {
		return false, err
	}
	if top == "" {
		err = t.repo().try("update-ref", "-m", "belay: land "+t.Branch, onto, next, old)
	} else {
		err = t.forward(ctx, top, next)
	}
	now, _ := t.repo().call("rev-parse", "--verify", "--quiet", onto)
	switch {
	case now != "" && t.ancestor(next, now):
		return true, t.save(Landed)
	case err != nil && now == old:
		return false, &NotLanded{Why: err.Error()}
	}
	return false, nil
}

// combine makes one of the work and of what has been committed elsewhere meanwhile, in the tree: rebased, or merged if that has conflicts or the work has merges itself.
func (t *Tree) combine(old, tip string) (string, error) {
	s, err := t.take()
	if err == nil && (s.tree != t.treeOf(tip) || s.head != tip) { // a check has left something
		if err = t.keep(&s, "after-check"); err == nil {
			err = t.restore()
		}
	}
	if err != nil {
		return "", err
	}
	if files := inTheWay(t.Path, t.changes(tip, old)); len(files) > 0 {
		return "", &NotLanded{Why: "files that git does not track are in the way in the tree", Files: files}
	}
	g := t.git().with(t.identity()...)
	if err = g.try("update-ref", "--no-deref", "HEAD", tip); err != nil {
		return "", err
	}
	if merges, err := g.call("rev-list", "--count", "--merges", old+".."+tip); err == nil && merges == "0" {
		if err = g.try("rebase", "--quiet", old); err == nil {
			return g.call("rev-parse", "HEAD")
		}
		g.try("rebase", "--abort")
		t.abandon()
	}
	if err = g.try("checkout", "--quiet", "--force", "--detach", old); err == nil {
		err = g.try("merge", "--quiet", "--no-ff", "--no-stat", "-m", "Merge branch '"+t.Branch+"'", tip)
	}
	if err == nil {
		return g.call("rev-parse", "HEAD")
	}
	files, _ := g.names("diff", "--name-only", "-z", "--diff-filter=U")
	if len(files) == 0 {
		return "", err
	}
	return "", &NotLanded{Why: "both have changed the same lines", Files: files}
}

// restore puts the tree back on its branch. Nothing was written there since but by git.
func (t *Tree) restore() error {
	t.abandon()
	err := t.git().try("symbolic-ref", "HEAD", t.ref())
	if err == nil {
		err = t.git().try("reset", "--hard", "--quiet")
	}
	return err
}

// replace puts the branch to what was made of its tip, which is kept, on another base.
func (t *Tree) replace(tip, next, base string) error {
	err := t.hold("before-landing", tip)
	if err == nil {
		err = t.repo().try("update-ref", "-m", "belay: landing", t.ref(), next, tip)
	}
	if err == nil {
		t.Base = base
		err = t.git().try("symbolic-ref", "HEAD", t.ref())
	}
	return err
}

// checkedOut is the work tree that a branch is checked out in; empty if there is none.
func (t *Tree) checkedOut(ref string) string {
	has := func(dir string) bool {
		g := git{start: t.store.Start, dir: dir, run: t.store.Run}
		head, err := g.call("symbolic-ref", "--quiet", "HEAD")
		common, cerr := g.call("rev-parse", "--git-common-dir")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		return err == nil && cerr == nil && head == ref && filepath.Clean(common) == filepath.Clean(t.Common)
	}
	if has(t.Top) {
		return t.Top
	}
	list, _ := t.repo().call("worktree", "list", "--porcelain")
	at := ""
	for line := range strings.SplitSeq(list, "\n") {
		if path, ok := strings.CutPrefix(line, "worktree "); ok {
			at = path
		}
		if line == "branch "+ref && has(at) {
			return at
		}
	}
	return ""
}

// forward brings the user's work tree to a commit that its own is part of, as git merge does. It comes to its end though we are killed: half of it would be worse.
func (t *Tree) forward(ctx context.Context, top, commit string) (err error) {
	g := git{start: t.store.Start, dir: top}
	for pause := 50 * time.Millisecond; pause < 3*time.Second; pause *= 2 {
		err = g.try("merge", "--ff-only", "--quiet", "--no-stat", "--no-overwrite-ignore", commit)
		if err == nil || !strings.Contains(err.Error(), "index.lock") {
			return err
		}
		select { // the user's editor asks git for its state
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
	return err
}

// changes are the paths that two commits differ in, with A for what only the second has, D for what only the first has, and M.
func (t *Tree) changes(from, to string) map[string]byte {
	fields, _ := t.repo().names("diff-tree", "-r", "-z", "--name-status", "--no-renames", from, to)
	list := map[string]byte{}
	for pair := range slices.Chunk(fields, 2) {
		if len(pair) == 2 {
			list[pair[1]] = pair[0][0]
		}
	}
	return list
}

// clear reports what of the user's would be replaced in a work tree if that went from one commit to another.
func (t *Tree) clear(top, from, to string) error {
	changes := t.changes(from, to)
	g := git{start: t.store.Start, dir: top, run: t.store.Run}
	changed, err := g.names("status", "--porcelain", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=all")
	if err != nil {
		return &NotLanded{Why: err.Error()}
	}
	marked, err := g.names("ls-files", "-z", "-v")
	if err != nil {
		return &NotLanded{Why: err.Error()}
	}
	for _, entry := range marked { // git does not check these for changes
		if hidden := entry[0] >= 'a' && entry[0] <= 'z' || entry[0] == 'S'; hidden {
			if _, err := os.Lstat(filepath.Join(top, entry[2:])); err == nil {
				changed = append(changed, "   "+entry[2:])
			}
		}
	}
	var files []string
	for _, entry := range changed {
		if len(entry) > 3 && changes[entry[3:]] != 0 {
			files = append(files, entry[3:])
		}
	}
	if len(files) > 0 {
		return &NotLanded{Why: "you have changed the same files", Files: files}
	}
	if files = inTheWay(top, changes); len(files) > 0 {
		return &NotLanded{Why: "files that git does not track are in the way", Files: files}
	}
	return nil
}

// inTheWay are files in a work tree that are in the place of those which changes bring, and that git does not track: git itself would replace those that it ignores.
func inTheWay(top string, changes map[string]byte) (files []string) {
	gone := func(path string) bool { return changes[path] == 'D' }
	for path, how := range changes {
		if how != 'A' {
			continue
		}
		for at := 0; at < len(path); {
			next := strings.IndexByte(path[at+1:], '/')
			if at += next + 1; next < 0 {
				at = len(path)
			}
			info, err := os.Lstat(filepath.Join(top, path[:at]))
			if err != nil {
				break
			}
			if !info.IsDir() {
				if !gone(path[:at]) {
					files = append(files, path[:at])
				}
				break
			}
			if at < len(path) {
				continue
			}
			filepath.WalkDir(filepath.Join(top, path), func(name string, d fs.DirEntry, err error) error {
				if in, rerr := filepath.Rel(top, name); err == nil && rerr == nil && !d.IsDir() && !gone(filepath.ToSlash(in)) {
					files = append(files, in)
				}
				return nil
			})
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// Leave keeps what is in the tree under the label, and leaves it to be continued.
func (t *Tree) Leave(label string) error {
	err := t.Save(label)
	return errors.Join(err, t.save(Interrupted))
}
