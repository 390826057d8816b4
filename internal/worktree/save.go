package worktree

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/safefile"
)

// snapshot is what a tree has of what git does not ignore.
type snapshot struct {
	commit string   // all of it, on top of head; head itself if nothing differs
	tree   string   // of the commit
	head   string   // what is checked out; if there is nothing, the branch
	more   []string // commits that the branch would not lead to: what it had before, and what was staged and is in no file any more
	index  string   // the file of the index of the snapshot
	nested []string // repositories of their own, which no commit can have
}

// take takes a snapshot, by an index of its own: that of the tree may be locked, and stays as it is.
func (t *Tree) take(text string) (s snapshot, err error) {
	if err = t.sound(); err != nil {
		return s, err
	}
	s.index = filepath.Join(t.Admin, "belay-index")
	os.Remove(s.index + ".lock") // of one that was killed
	data, err := safefile.ReadOwn(filepath.Join(t.Admin, "index"), 1<<31)
	if errors.Is(err, fs.ErrNotExist) {
		os.Remove(s.index)
	} else if err == nil {
		err = atomicfile.Write(s.index, ".belay-*", data)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	g := t.git().with(append(t.identity(), "GIT_INDEX_FILE="+s.index)...)
	tip := t.repo().commit(t.ref())
	s.head = cmp.Or(g.commit("HEAD"), tip, t.Base) // an agent may have begun another history, without a commit
	if tip != "" && !t.ancestor(tip, s.head) {     // or has left the branch, or written it anew
		s.more = append(s.more, tip)
	}
	staged, _ := g.call("write-tree") // not of an index with conflicts, whose files are in the tree
	hidden, err := g.hidden()
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		for names := range slices.Chunk(hidden, 500) {
			err = errors.Join(err, g.try(append([]string{"update-index", flag, "--"}, names...)...))
		}
	}
	untracked, uerr := g.names("ls-files", "-z", "--others", "--exclude-standard")
	add := []string{"-c", "core.sparseCheckout=false", "add", "--all", "--", "."} // else git refuses what is outside
	for _, name := range untracked {
		if path, is := strings.CutSuffix(name, "/"); is {
			s.nested = append(s.nested, path)
			add = append(add, ":(exclude,literal)"+path)
		}
	}
	if len(s.nested) > 1000 {
		uerr = errors.New("there are too many repositories in it")
	}
	if err = errors.Join(err, uerr); err == nil {
		err = g.try(add...)
	}
	if err == nil {
		s.tree, err = g.call("write-tree")
	}
	if head := t.treeOf(s.head); err == nil && staged != "" && !slices.Contains([]string{s.tree, head, t.Made}, staged) {
		staged, err = g.call("commit-tree", staged, "-m", "what was staged", "-p", s.head)
		s.more = append(s.more, staged)
	}
	if s.commit = s.head; err == nil && s.tree != t.treeOf(s.head) {
		s.commit, err = g.call("commit-tree", s.tree, "-m", text, "-p", s.head)
	}
	return s, err
}

// hidden are the files that git was told not to look at, as far as they are there.
func (g git) hidden() (names []string, err error) {
	marked, err := g.names("ls-files", "-z", "-v")
	for _, entry := range marked {
		if entry[0] >= 'a' && entry[0] <= 'z' || entry[0] == 'S' {
			if _, err := os.Lstat(filepath.Join(g.dir, entry[2:])); err == nil {
				names = append(names, entry[2:])
			}
		}
	}
	return names, err
}

// identity are the variables for who makes a commit, where git does not know that.
func (t *Tree) identity() (env []string) {
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		if !t.repo().is("var", who+"_IDENT") {
			env = append(env, who+"_NAME=Belay", who+"_EMAIL=belay@localhost")
		}
	}
	return env
}

// ancestor reports whether a commit is part of the history of another.
func (t *Tree) ancestor(of, commit string) bool {
	return t.repo().is("merge-base", "--is-ancestor", of, commit)
}

// treeOf is the git tree of a commit.
func (t *Tree) treeOf(commit string) string {
	tree, _ := t.repo().call("rev-parse", "--verify", "--quiet", commit+"^{tree}")
	return tree
}

// hold keeps commits that are not part of another by refs of the run's. Those are on record first: whatever happens in between, they are found when the tree is dropped.
func (t *Tree) hold(label, known string, commits ...string) error {
	for _, commit := range commits {
		if commit == "" || t.ancestor(commit, known) {
			continue
		}
		ref := "refs/belay/" + t.Run + "/" + label
		for n := 2; slices.Contains(t.Saved, ref); n++ {
			ref = fmt.Sprintf("refs/belay/%s/%s-%d", t.Run, label, n)
		}
		t.Saved = append(t.Saved, ref)
		if err := errors.Join(t.save(t.State), t.repo().try("update-ref", ref, commit)); err != nil {
			return err
		}
	}
	return nil
}

// keep takes a snapshot and keeps it under the label, but what another commit has already, and what the setup has made.
func (t *Tree) keep(label, known string) (s snapshot, err error) {
	s, err = t.take(fmt.Sprintf("%s of run %s", label, t.Run))
	if err != nil {
		return s, err
	}
	if s.head != t.Base || s.tree != t.Made {
		err = t.hold(label, known, s.commit)
	}
	return s, errors.Join(err, t.hold(label+"-replaced", known, s.more...))
}

// Save keeps what is in the tree as refs/belay/RUN/LABEL, and leaves the tree as it is.
func (t *Tree) Save(label string) error {
	_, err := t.keep(label, t.Base)
	return err
}

// Leave is Save at the end of a run that may be continued.
func (t *Tree) Leave(label string) error {
	return errors.Join(t.Save(label), t.save(Interrupted))
}

// Ready says that the tree is as a run is to find it. changed says that it is not as git has made it.
func (t *Tree) Ready(changed bool) error {
	t.Made, t.Ignored = "", ""
	if changed {
		s, err := t.take("setup")
		if err == nil {
			t.Made = s.tree
			t.Ignored, err = t.ignored()
		}
		if err != nil {
			return err
		}
	}
	return t.save(Working)
}

// ignored stands for all that git ignores in the tree: its names, sizes and times.
func (t *Tree) ignored() (string, error) {
	names, err := t.git().names("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	sum := sha256.New()
	for _, name := range names {
		filepath.WalkDir(filepath.Join(t.Path, name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				if info, err := d.Info(); err == nil {
					fmt.Fprintf(sum, "%q %d %d %v\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
				}
			}
			return err
		})
	}
	if err != nil || len(names) == 0 {
		return "", err
	}
	return fmt.Sprintf("%x", sum.Sum(nil)), nil
}

// unsaved is why a snapshot does not have all that is in the tree: it has another repository in it, or files that git ignores and that the setup has not made. It is empty if
// there is nothing of the kind.
func (t *Tree) unsaved(s *snapshot) string {
	now, err := t.ignored()
	entries, serr := t.git().with("GIT_INDEX_FILE="+s.index).names("ls-files", "-z", "--stage")
	switch err = errors.Join(err, serr); {
	case err != nil:
		return err.Error()
	case len(s.nested) > 0:
		return s.nested[0] + " is a repository of its own"
	case now != t.Ignored:
		return "it has files that git ignores"
	}
	for _, entry := range entries {
		if _, name, _ := strings.Cut(entry, "\t"); strings.HasPrefix(entry, "160000 ") {
			if _, err := os.Lstat(filepath.Join(t.Path, name, ".git")); err == nil {
				return name + " is a submodule"
			}
		}
	}
	return ""
}

// Fresh makes the tree anew, at a commit, unless nothing has changed in it, and reports whether it has to be made ready again. What was in it is kept under the label. Where that
// cannot be, the tree stays as it is and this one is at another path; moved says why.
func (t *Tree) Fresh(label, base string) (unready bool, moved string, err error) {
	s, err := t.keep(label, t.Base)
	if err == nil {
		moved = t.unsaved(&s)
	} else {
		moved, err = err.Error(), t.hold(label+"-replaced", t.Base, t.repo().commit(t.ref()))
	}
	switch {
	case err != nil:
		return false, moved, err
	case moved != "":
		err = t.leave()
	case base == t.Base && s.head == base && len(s.more) == 0 && (s.commit == base || s.tree == t.Made):
		return false, "", nil
	default:
		if err = t.save(Making); err == nil {
			err = t.remove()
		}
	}
	if t.Base = base; err == nil {
		err = t.repo().try("update-ref", "-m", "belay: fresh tree", t.ref(), base)
	}
	if err == nil {
		err = t.add()
	}
	return true, moved, err
}

// leave leaves a tree to itself as it is, off the branch, and remembers it as another one: this is one that has yet to be made, at another path.
func (t *Tree) leave() error {
	if head := t.git().commit("HEAD"); head != "" && t.sound() == nil {
		if err := t.git().try("update-ref", "--no-deref", "HEAD", head); err != nil {
			return err
		}
	}
	left := *t
	left.lock, left.Branch, left.Saved = nil, "", nil
	for n := 1; ; n++ {
		left.ID = fmt.Sprintf("%s-kept-%d", t.ID, n)
		if _, err := os.Lstat(t.store.file(left.ID, ".json")); errors.Is(err, fs.ErrNotExist) {
			return left.save(Kept)
		}
	}
}

// Diff is what the tree has changed since it was made, with what is not committed, as git shows it.
func (t *Tree) Diff() (text string, err error) {
	to := t.ref()
	if t.Path != "" {
		s, err := t.take("")
		if err != nil {
			return "", err
		}
		to = s.tree
	}
	text, err = t.repo().call("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", t.Base, to, "--")
	if text != "" {
		text += "\n"
	}
	return text, err
}
