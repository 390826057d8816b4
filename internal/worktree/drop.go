package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Rescue saves what is in trees whose runs were killed, and leaves them. It returns those that it has found.
func (s *Store) Rescue() (found []*Tree) {
	list, _ := s.List()
	for _, t := range list {
		if t.State != Working && t.State != Landing || t.Take() != nil {
			continue
		}
		if t.State == Working || t.State == Landing {
			t.rescue()
			found = append(found, t)
		}
		t.Release()
	}
	return found
}

func (t *Tree) rescue() {
	state := Killed
	if err := t.Save("killed"); err == nil && t.State == Landing {
		state = Done // all was on its branch
		t.restore()
	}
	if t.sound() != nil {
		state = Failed
	}
	if t.Landed() && t.State == Landing {
		state = Landed
	}
	t.save(state)
}

// Size is how many bytes the files of the tree have.
func (t *Tree) Size() (size int64) {
	if t.Path == "" {
		return 0
	}
	filepath.WalkDir(t.Path, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				size += info.Size()
			}
		}
		return nil
	})
	return size
}

// Reopen brings a tree back of which only the branch was left.
func (t *Tree) Reopen() error {
	if t.sound() == nil || t.Branch == "" {
		return nil
	}
	if t.Path == "" {
		t.Path = filepath.Join(t.store.Dir, strings.ReplaceAll(t.Branch, "/", "-"))
	}
	state := t.State
	err := t.add()
	if err == nil {
		err = t.Ready(false)
	}
	return errors.Join(err, t.save(state))
}

// Drop removes the tree with all that is in it, its branch, and what was saved of it. The caller has taken it.
func (t *Tree) Drop() error {
	if err := t.discard(); err != nil {
		return err
	}
	err := os.Remove(t.store.recordPath(t.ID))
	os.Remove(filepath.Join(t.store.Dir, t.ID+".lock"))
	t.Release()
	return err
}

// discard removes all of a tree but what is known of it.
func (t *Tree) discard() error {
	err := t.remove()
	refs := t.Saved
	if t.Branch != "" {
		refs = append(refs, t.ref())
	}
	for _, ref := range refs {
		if t.repo().is("show-ref", "--verify", "--quiet", ref) {
			err = errors.Join(err, t.repo().try("update-ref", "-d", ref))
		}
	}
	if _, gone := os.Stat(t.Common); errors.Is(gone, fs.ErrNotExist) {
		return nil // with the repository
	}
	return err
}

// remove removes the tree itself.
func (t *Tree) remove() error {
	if t.Path == "" {
		return nil
	}
	if info, err := os.Lstat(t.Path); err == nil && !info.IsDir() { // something has taken its place, which is not ours
		return t.sound()
	}
	if t.repo().try("worktree", "remove", "--force", "--force", "--", t.Path) == nil {
		return nil
	}
	// What is there is no tree to git: its .git is not as git has made it.
	if err := os.RemoveAll(t.Path); err != nil {
		return err
	}
	if _, err := os.Lstat(t.Admin); t.Admin == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return t.repo().try("worktree", "remove", "--force", "--force", "--", t.Path)
}

// Prune removes a tree if all that is in it is on its branch, and the branch too if another ref has it. kept says why it does not.
func (t *Tree) Prune() (kept string, err error) {
	switch t.State {
	case Done, Failed, Conflict, Landed:
	case Making:
		if len(t.Saved) == 0 {
			return "", t.Drop()
		}
		fallthrough
	default:
		return "it is " + string(t.State), nil
	}
	if t.Path != "" {
		s, err := t.take()
		switch {
		case err != nil:
			return err.Error(), nil
		case s.head == "" || s.head != s.tip || s.tree != t.treeOf(s.head):
			return "it has changes that are not committed", nil
		}
		if kept = t.unsaved(&s); kept != "" {
			return kept, nil
		}
	}
	only, err := t.repo().call("rev-list", "--max-count=1", t.ref(), "--single-worktree", "--not", "--exclude="+t.ref(), "--exclude=refs/belay/*", "--all")
	switch {
	case err != nil:
		return "", err
	case only == "":
		return "", t.Drop()
	case t.Path == "":
		return "its branch is not landed", nil
	}
	if err = t.remove(); err == nil {
		t.Path, t.Admin = "", ""
		err = t.save(t.State)
	}
	return "", err
}
