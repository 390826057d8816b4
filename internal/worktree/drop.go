package worktree

import (
	"errors"
	"io/fs"
	"os"
	"slices"
)

// Drop removes the tree with all that is in it, its branch, and what was saved of it. The caller has taken it.
func (t *Tree) Drop() error {
	err := t.remove()
	refs := t.Saved
	if t.Branch != "" {
		refs = append(refs, t.ref())
	}
	for _, ref := range refs {
		err = errors.Join(err, t.repo().try("update-ref", "-d", ref))
	}
	if _, gone := os.Stat(t.Common); err != nil && !errors.Is(gone, fs.ErrNotExist) { // else all is gone with the repository
		return err
	}
	err = os.Remove(t.store.file(t.ID))
	t.Release()
	return err
}

// remove removes the tree itself: also one that git does not know for its own, as its .git is not as git has made it. A link is not followed.
func (t *Tree) remove() error {
	err := os.RemoveAll(t.Path)
	if err == nil {
		err = t.register("remove", "--force", "--force", "--", t.Path)
		if _, gone := os.Lstat(t.Admin); errors.Is(gone, fs.ErrNotExist) {
			err = nil
		}
	}
	return err
}

// Prune removes a tree if all that is in it is on its branch, and the branch too if another ref has it. kept says why it does not. dry removes nothing.
func (t *Tree) Prune(dry bool) (kept string, err error) {
	if !slices.Contains([]State{Done, Failed, Conflict, Landed, Kept}, t.State) {
		return "its run has not ended", nil
	}
	if t.Path != "" {
		s, err := t.take("")
		if kept = t.unsaved(&s, err); kept == "" && s.whole != t.repo().object(t.ref()) {
			kept = "it has changes that are not committed"
		}
	}
	only, err := t.repo().call("rev-list", "--max-count=1", t.ref(), "--single-worktree",
		"--not", "--exclude="+t.ref(), "--exclude=refs/belay/*", "--all")
	switch {
	case kept != "":
		return kept, nil
	case t.Path == "" && only != "":
		return "its branch is not landed", nil
	case err != nil || dry:
		return "", err
	case only == "":
		return "", t.Drop()
	}
	if err = t.remove(); err == nil {
		t.Path, t.Admin = "", ""
		err = t.save(t.State)
	}
	return "", err
}
