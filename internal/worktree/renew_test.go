//go:build unix

package worktree

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// A tree that a run goes on in is at work: when that run is killed, what it has not committed is saved. It stayed on record as interrupted.
func TestRenew_ContinuedAndKilled(t *testing.T) {
	top, s, tree := place(t)
	must.OK(t, tree.Save("attempt-1", Interrupted))
	tree.Release()
	next, err := s.Plan(top, "", "")
	must.OK(t, err)
	next.ID, next.Run = "run", "second"
	must.OK(t, next.Enter())
	_, err = next.Renew(0, "", Working, nil)
	must.OK(t, err)
	put(t, next.Path, "mine.txt", "mine")
	next.Release() // as the system does for a process that is killed
	list, err := s.List()
	if must.OK(t, err); list[0].State != Killed || output(t, top, "show", "refs/belay/second/killed:mine.txt") != "mine" {
		t.Error(list[0])
	}
}

// A tree that is gone is made again with its setup, and has the work that is on its branch. That was made without.
func TestRenew_Gone(t *testing.T) {
	_, _, tree := place(t)
	put(t, tree.Path, "work.txt", "work")
	_, err := tree.Commit("work", Done)
	must.OK(t, err)
	must.OK(t, os.RemoveAll(tree.Path))
	moved, err := tree.Renew(0, "", Done, func() error {
		put(t, tree.Path, "made", "made")
		return nil
	})
	must.OK(t, err)
	for _, name := range []string{"work.txt", "made"} {
		if !exists(tree.Path + "/" + name) {
			t.Errorf("%s is missing", name)
		}
	}
	if moved != "" || tree.State != Done || tree.Made == "" {
		t.Error(moved, tree)
	}
}

// What prune would not remove does not count as removed with --dry-run either.
func TestPrune_DryKeepsBranch(t *testing.T) {
	_, _, tree := place(t)
	put(t, tree.Path, "work.txt", "work")
	_, err := tree.Commit("work", Done)
	must.OK(t, err)
	kept, err := tree.Prune(false)
	if must.OK(t, err); kept != "" || tree.Path != "" {
		t.Error(kept, tree)
	}
	for _, dry := range []bool{true, false} {
		if kept, err := tree.Prune(dry); err != nil || kept != "its branch is not landed" {
			t.Error(dry, kept, err)
		}
	}
}

// While another git makes a tree of the same repository, its files are there and still empty for a moment, and git worktree ends on reading them.
func TestRenew_BesideAnother(t *testing.T) {
	top, s, first := place(t)
	half := filepath.Join(top, ".git", "worktrees", "half")
	must.OK(t, os.MkdirAll(half, 0o755))
	put(t, half, "commondir", "")
	put(t, half, "gitdir", filepath.Join(filepath.Dir(top), "half", ".git")+"\n")
	put(t, half, "HEAD", "ref: refs/heads/half\n")
	written := time.AfterFunc(100*time.Millisecond, func() { os.RemoveAll(half) })
	defer written.Stop()
	second, err := s.Plan(top, "", "")
	must.OK(t, err)
	second.ID, second.Run = "second", "second"
	must.OK(t, second.Enter())
	defer second.Release()
	if _, err = second.Renew(0, first.Base, Working, nil); err != nil {
		t.Error(err)
	}
}
