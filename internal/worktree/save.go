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

	"github.com/belay-run/belay/internal/safefile"
)

// snapshot is what a tree has of what git does not ignore.
type snapshot struct {
	commit string   // all of it, on top of head; head itself if nothing differs
	whole  string   // that, with what it would not lead to: what the branch had before, and what was staged and is in no file any more
	tree   string   // of the commit
	head   string   // what is checked out; if there is nothing, the branch
	index  string   // the file of the index of the snapshot
	nested []string // repositories of their own, which no commit can have
	filled string   // a submodule that is checked out, of which no commit has what is in it
}

// take takes a snapshot, by an index of its own: that of the tree may be locked, and stays as it is.
func (t *Tree) take(text string) (s snapshot, err error) {
	if err = t.sound(); err != nil {
		return s, err
	}
	s.index = filepath.Join(t.Admin, "belay-index")
	os.Remove(s.index + ".lock") // of one that was killed
	os.Remove(s.index)
	if err = copyWithTime(filepath.Join(t.Admin, "index"), s.index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	g := t.git(append(t.identity(), "GIT_INDEX_FILE="+s.index)...)
	tip := t.repo().object(t.ref())
	s.head = cmp.Or(g.object("HEAD^{commit}"), tip, t.Base) // an agent may have begun another history, without a commit
	staged, _ := g.call("write-tree")                       // not of an index with conflicts, whose files are in the tree
	if err = g.add(&s); err == nil {
		s.tree, err = g.call("write-tree")
	}
	commit := func(tree, text string, parents ...string) (name string) {
		args := []string{"commit-tree", tree, "-m", text}
		for _, parent := range parents {
			args = append(args, "-p", parent)
		}
		if err == nil {
			name, err = g.call(args...)
		}
		return name
	}
	s.commit = s.head
	before := g.object(s.head + "^{tree}")
	if s.tree != before {
		s.commit = commit(s.tree, text, s.head)
	}
	all := []string{s.commit}
	if tip != "" && !t.ancestor(tip, s.head) { // it has left the branch, or written it anew
		all = append(all, tip)
	}
	if staged != "" && !slices.Contains([]string{s.tree, before, t.Made}, staged) {
		all = append(all, commit(staged, "what was staged", s.head))
	}
	if s.whole = s.commit; len(all) > 1 {
		s.whole = commit(s.tree, text, all...)
	}
	return s, err
}

// copyWithTime copies an index. By its time git knows which files may have changed in the second in which they were staged.
func copyWithTime(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	data, err := safefile.ReadOwn(from, 1<<31)
	if err == nil {
		err = safefile.WriteOwn(to, data)
	}
	return cmp.Or(err, os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// add puts into the index what is in the tree: also files that git was told not to look at, as far as they are there, and those outside of a sparse checkout.
func (g git) add(s *snapshot) error {
	add := []string{"-c", "core.sparseCheckout=false", "add", "--all", "--", "."}
	var hidden []string
	entries, err := g.names("ls-files", "-z", "-v", "--cached", "--others", "--exclude-standard")
	for _, entry := range entries {
		name, nested := strings.CutSuffix(entry[2:], "/")
		info, gone := os.Lstat(filepath.Join(g.dir, name))
		switch {
		case gone != nil:
		case nested:
			s.nested = append(s.nested, name)
			add = append(add, ":(exclude,literal)"+name)
		case info.IsDir() && exists(filepath.Join(g.dir, name, ".git")):
			s.filled = name
		case entry[0] == 'S' || entry[0] >= 'a' && entry[0] <= 'z':
			hidden = append(hidden, name)
		}
	}
	if len(s.nested) > 1000 {
		err = errors.New("there are too many repositories in it")
	}
	for names := range slices.Chunk(hidden, 500) {
		for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
			err = errors.Join(err, g.try(append([]string{"update-index", flag, "--"}, names...)...))
		}
	}
	if err == nil {
		err = g.try(add...)
	}
	return err
}

// identity are the variables for who makes a commit, where git does not know that.
func (t *Tree) identity() (env []string) {
	for _, who := range []string{"GIT_AUTHOR", "GIT_COMMITTER"} {
		if t.repo().try("var", who+"_IDENT") != nil {
			env = append(env, who+"_NAME=Belay", who+"_EMAIL=belay@localhost")
		}
	}
	return env
}

// ancestor reports whether a commit is part of the history of another.
func (t *Tree) ancestor(of, commit string) bool {
	return t.repo().try("merge-base", "--is-ancestor", of, commit) == nil
}

// hold keeps a commit that is not part of another by a ref of the run's. That is on record first: whatever happens in between, it is found when the tree is dropped.
func (t *Tree) hold(label, commit, known string) error {
	if commit == "" || t.ancestor(commit, known) {
		return nil
	}
	ref := free("refs/belay/"+t.Run+"/"+label, func(ref string) bool { return slices.Contains(t.Saved, ref) })
	t.Saved = append(t.Saved, ref)
	return errors.Join(t.save(t.State), t.repo().try("update-ref", ref, commit))
}

// keep takes a snapshot and keeps it under the label, but for what the setup has made.
func (t *Tree) keep(label string) (s snapshot, err error) {
	s, err = t.take(fmt.Sprintf("%s of run %s", label, t.Run))
	if err == nil && (s.head != t.Base || s.tree != t.Made || s.whole != s.commit) {
		err = t.hold(label, s.whole, t.Base)
	}
	return s, err
}

// Save keeps what is in the tree as refs/belay/RUN/LABEL, and leaves the tree as it is.
func (t *Tree) Save(label string, state State) error {
	_, err := t.keep(label)
	return errors.Join(err, t.save(state))
}

// setUp makes a new tree ready, and remembers what that has made.
func (t *Tree) setUp(setup func() error) error {
	t.Made, t.Ignored = "", ""
	if setup == nil {
		return nil
	}
	if err := setup(); err != nil {
		return err
	}
	made, err := t.take("setup")
	if t.Made = made.tree; err == nil {
		t.Ignored, err = t.ignored()
	}
	return err
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

// unsaved is why a snapshot does not have all that is in the tree: it could not be taken, for that reason, or the tree has another repository in it, or files that git ignores
// and that the setup has not made. It is empty if there is nothing of the kind.
func (t *Tree) unsaved(s *snapshot, err error) string {
	now, ierr := t.ignored()
	switch err = cmp.Or(err, ierr); {
	case err != nil:
		return err.Error()
	case len(s.nested) > 0:
		return s.nested[0] + " is a repository of its own"
	case now != t.Ignored:
		return "it has files that git ignores"
	case s.filled != "":
		return s.filled + " is a submodule"
	}
	return ""
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
