package worktree

import (
	"crypto/sha256"
	"encoding/hex"
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
	tree   string // as git names it
	staged string // likewise, what was staged; empty for an index with conflicts, whose files are in the tree
	head   string // the commit that is checked out; empty if there is none
	tip    string // that of the branch
	index  string // the file of the index of the snapshot
	nested []string
}

// take takes a snapshot, by an index of its own: that of the tree may be locked, and stays as it is.
func (t *Tree) take() (s snapshot, err error) {
	if err = t.sound(); err != nil {
		return s, err
	}
	s.index = filepath.Join(t.Admin, "belay-index")
	if err = copyIndex(filepath.Join(t.Admin, "index"), s.index); err != nil {
		return s, err
	}
	g := t.git().with("GIT_INDEX_FILE=" + s.index)
	s.staged, _ = g.call("write-tree")
	if err = t.unhide(g); err != nil {
		return s, err
	}
	untracked, err := g.names("ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return s, err
	}
	add := []string{"add", "--all", "--", "."}
	for _, name := range untracked {
		if path, is := strings.CutSuffix(name, "/"); is {
			s.nested = append(s.nested, path)
			add = append(add, ":(exclude,literal)"+path)
		}
	}
	if len(s.nested) > 1000 {
		return s, errors.New("there are too many repositories in it")
	}
	if err = g.try(add...); err == nil {
		s.tree, err = g.call("write-tree")
	}
	s.head, _ = g.call("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	s.tip, _ = t.repo().call("rev-parse", "--verify", "--quiet", t.ref()+"^{commit}")
	return s, err
}

// unhide has git look at the files in an index that it was told not to look at, as far as they are there.
func (t *Tree) unhide(g git) error {
	marked, err := g.names("ls-files", "-z", "-v")
	var hidden []string
	for _, entry := range marked {
		if entry[0] >= 'a' && entry[0] <= 'z' || entry[0] == 'S' {
			if _, err := os.Lstat(filepath.Join(t.Path, entry[2:])); err == nil {
				hidden = append(hidden, entry[2:])
			}
		}
	}
	for _, flag := range []string{"--no-assume-unchanged", "--no-skip-worktree"} {
		for names := range slices.Chunk(hidden, 500) {
			err = errors.Join(err, g.try(append([]string{"update-index", flag, "--"}, names...)...))
		}
	}
	return err
}

// copyIndex copies an index; one that is not there is empty.
func copyIndex(from, to string) error {
	data, err := safefile.ReadOwn(from, 1<<31)
	os.Remove(to)
	os.Remove(to + ".lock") // of one that was killed
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return atomicfile.Write(to, ".belay-*", data)
}

// commit makes a commit of a git tree.
func (t *Tree) commit(tree, text string, parents ...string) (string, error) {
	args := []string{"commit-tree", tree, "-m", text}
	for _, p := range parents {
		args = append(args, "-p", p)
	}
	return t.git().with(t.identity()...).call(args...)
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

// Ready says that the tree is as a run is to find it. changed says that it is not as git has made it.
func (t *Tree) Ready(changed bool) error {
	t.Made, t.Ignored = t.treeOf(t.Base), ""
	if changed {
		s, err := t.take()
		if err != nil {
			return err
		}
		t.Made = s.tree
		if t.Ignored, err = t.ignored(); err != nil {
			return err
		}
	}
	return t.save(Working)
}

// ignored stands for all that git ignores in the tree: its names, sizes and times.
func (t *Tree) ignored() (string, error) {
	names, err := t.git().names("ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	if err != nil || len(names) == 0 {
		return "", err
	}
	sum := sha256.New()
	for _, name := range names {
		filepath.WalkDir(filepath.Join(t.Path, name), func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if info, err := d.Info(); err == nil && !d.IsDir() {
				fmt.Fprintf(sum, "%q %d %d %v\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			}
			return nil
		})
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// unsaved is why a commit does not have all that is in the tree: it has another repository in it, or files that git ignores and that were not there when it was made.
// It is empty if there is nothing of the kind.
func (t *Tree) unsaved(s *snapshot) string {
	now, err := t.ignored()
	switch {
	case err != nil:
		return err.Error()
	case len(s.nested) > 0:
		return s.nested[0] + " is a repository of its own"
	case now != t.Ignored:
		return "it has files that git ignores"
	}
	entries, err := t.git().with("GIT_INDEX_FILE="+s.index).names("ls-files", "-z", "--stage")
	if err != nil {
		return err.Error()
	}
	for _, entry := range entries {
		name, link := strings.CutPrefix(entry, "160000 ")
		if _, name, _ = strings.Cut(name, "\t"); !link {
			continue
		}
		if _, err := os.Lstat(filepath.Join(t.Path, name, ".git")); err == nil {
			return name + " is a submodule"
		}
	}
	return ""
}

// keep keeps a snapshot below refs/belay, unless there is nothing in it that is not kept already. What was staged and is overwritten, and what the branch had, is kept with it.
func (t *Tree) keep(s *snapshot, label string) error {
	var parents []string
	if s.head != "" {
		parents = append(parents, s.head)
	}
	if s.tip != "" && s.tip != s.head && (s.head == "" || !t.ancestor(s.tip, s.head)) {
		parents = append(parents, s.tip)
	}
	staged, err := t.staged(s)
	if err != nil {
		return err
	}
	if staged != "" {
		parents = append(parents, staged)
	}
	if len(parents) == 1 && (s.tree == t.treeOf(s.head) && s.head == t.Base || s.head == t.Base && s.tree == t.Made) {
		return nil
	}
	for _, ref := range t.Saved { // the run before may have kept the same
		if t.treeOf(ref) == s.tree && s.head != "" && t.ancestor(s.head, ref) && len(parents) == 1 {
			return nil
		}
	}
	commit, err := t.commit(s.tree, fmt.Sprintf("%s of run %s", label, t.Run), parents...)
	if err != nil {
		return err
	}
	return t.hold(label, commit)
}

// staged is a commit of what is staged and in no file any more; empty if there is nothing of the kind.
func (t *Tree) staged(s *snapshot) (string, error) {
	if s.staged == "" || s.staged == s.tree || s.staged == t.treeOf(s.head) || s.staged == t.Made {
		return "", nil
	}
	return t.commit(s.staged, "what was staged")
}

// hold keeps a commit by a ref of the run's. That is on record first: whatever happens in between, the ref is found when the tree is dropped.
func (t *Tree) hold(label, commit string) error {
	ref := "refs/belay/" + t.Run + "/" + label
	for n := 2; slices.Contains(t.Saved, ref); n++ {
		ref = fmt.Sprintf("refs/belay/%s/%s-%d", t.Run, label, n)
	}
	t.Saved = append(t.Saved, ref)
	if err := t.save(t.State); err != nil {
		return err
	}
	return t.repo().try("update-ref", ref, commit)
}

// treeOf is the git tree of a commit; empty if there is none.
func (t *Tree) treeOf(commit string) string {
	if commit == "" {
		return ""
	}
	tree, _ := t.repo().call("rev-parse", "--verify", "--quiet", commit+"^{tree}")
	return tree
}

// Save keeps what is in the tree as refs/belay/RUN/LABEL, and leaves the tree as it is.
func (t *Tree) Save(label string) error {
	s, err := t.take()
	if err == nil {
		err = t.keep(&s, label)
	}
	return err
}

// Fresh makes the tree as it was made, or anew at a commit if that is another one, and reports whether it has to be made ready again. What was in it is kept under the label.
// Where that cannot be, the tree stays as it is and this one is at another path; moved says why.
func (t *Tree) Fresh(label, commit string) (unready bool, moved string, err error) {
	s, err := t.take()
	if err == nil {
		err = t.keep(&s, label)
	}
	if err != nil {
		moved = err.Error()
	} else if moved = t.unsaved(&s); moved == "" {
		if s.head == t.Base && s.tip == t.Base && s.tree == t.Made && commit == t.Base {
			return false, "", nil
		}
		if err = t.reset(commit); err == nil {
			if commit != t.Base {
				t.Base = commit
				return true, "", t.save(Making)
			}
			if s, err = t.take(); err == nil && s.tree == t.Made && t.unsaved(&s) == "" {
				return false, "", t.save(Working)
			}
		}
		moved = "it could not be made as it was"
	}
	if err = t.detach(label); err == nil {
		t.Base = commit
		if err = t.repo().try("update-ref", "-m", "belay: fresh tree", t.ref(), commit); err == nil {
			err = t.add()
		}
	}
	return true, moved, err
}

// unfinished is what git leaves in the directory of a tree when it is interrupted.
var unfinished = []string{"index.lock", "HEAD.lock", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "rebase-merge", "rebase-apply", "sequencer",
	"BISECT_LOG", "BISECT_START", "BISECT_TERMS", "BISECT_NAMES"}

// abandon ends what git was in the middle of. Nothing else works in the tree.
func (t *Tree) abandon() {
	for _, name := range unfinished {
		os.RemoveAll(filepath.Join(t.Admin, name))
	}
}

// reset puts the branch to a commit, and the tree to what was made of that. What is replaced has been saved.
func (t *Tree) reset(commit string) error {
	t.abandon()
	g := t.git()
	err := g.try("symbolic-ref", "HEAD", t.ref())
	for _, args := range [][]string{{"update-ref", "-m", "belay: fresh tree", t.ref(), commit}, {"reset", "--hard", "--quiet"}, {"clean", "-d", "--force", "--quiet"}} {
		if err == nil {
			err = g.try(args...)
		}
	}
	if err == nil && commit == t.Base && t.Made != "" && t.Made != t.treeOf(commit) {
		if err = g.try("read-tree", "--reset", "-u", t.Made); err == nil {
			err = g.try("reset", "--mixed", "--quiet")
		}
	}
	return err
}

// detach leaves a tree that is as it is to itself, off the branch, and remembers it as another one.
func (t *Tree) detach(label string) error {
	if head, err := t.git().call("rev-parse", "--verify", "--quiet", "HEAD^{commit}"); err == nil {
		if err := t.git().try("update-ref", "--no-deref", "HEAD", head); err != nil {
			return err
		}
	}
	if tip, err := t.repo().call("rev-parse", "--verify", "--quiet", t.ref()); err == nil && tip != t.Base {
		if err := t.hold(label+"-branch", tip); err != nil {
			return err
		}
	}
	return t.leave(label, "", Kept)
}

// leave remembers a tree by another id: its own is given to another one.
func (t *Tree) leave(label, branch string, state State) error {
	left := *t
	left.lock, left.Branch, left.Saved = nil, branch, nil
	if branch != "" {
		left.Saved = t.Saved
	}
	for n := 1; ; n++ {
		if left.ID = t.ID + "-" + label; n > 1 {
			left.ID = fmt.Sprintf("%s-%d", left.ID, n)
		}
		if _, err := os.Lstat(t.store.recordPath(left.ID)); errors.Is(err, fs.ErrNotExist) {
			return left.save(state)
		}
	}
}

// Diff is what the tree has changed since it was made, with what is not committed, as git shows it.
func (t *Tree) Diff() (string, error) {
	to := t.ref()
	if t.Path != "" {
		s, err := t.take()
		if err != nil {
			return "", err
		}
		to = s.tree
	}
	text, err := t.repo().call("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--binary", t.Base, to, "--")
	if text != "" {
		text += "\n"
	}
	return text, err
}
