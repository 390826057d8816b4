//go:build unix

package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// place is a repository with a commit, and a tree of it.
func place(t *testing.T) (top string, s *Store, tree *Tree) {
	t.Helper()
	root := t.TempDir()
	top, s = filepath.Join(root, "repo"), Of(filepath.Join(root, "state"), nil)
	must.OK(t, os.MkdirAll(filepath.Join(top, "dir"), 0o755))
	put(t, top, "a.txt", "one")
	put(t, top, "dir/b.txt", "two")
	put(t, top, ".gitattributes", "*.txt filter=evil diff=evil merge=evil\n")
	run(t, top, "init", "-q", "-b", "main")
	run(t, top, "add", "-A")
	run(t, top, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "one")
	return top, s, enter(t, s, top)
}

func enter(t *testing.T, s *Store, top string) *Tree {
	t.Helper()
	tree, err := s.Plan(top, "", "")
	must.OK(t, err)
	tree.ID, tree.Run = "run", "run"
	must.OK(t, tree.Enter())
	_, err = tree.Renew(0, tree.Base, Working, nil)
	must.OK(t, err)
	t.Cleanup(tree.Release)
	return tree
}

func put(t *testing.T, dir, name, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755))
}

func run(t testing.TB, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
}

// all does with a tree what Belay ever does.
func all(tree *Tree) {
	tree.Save("attempt-1", Working)
	tree.Diff()
	tree.Renew(2, tree.Base, Working, nil)
	os.WriteFile(filepath.Join(tree.Path, "new.txt"), []byte("new"), 0o600)
	tree.Commit("work", Done)
	tree.Work()
	tree.Land(context.Background(), nil)
	tree.Prune(false)
	tree.Drop()
}

// What git is told to run by a repository, by what an agent has put in the place of its tree's .git, or by a repository inside, is not run.
func TestHostile_NothingRuns(t *testing.T) {
	for name, attack := range map[string]func(top, tree, evil string){
		"the repository's own": func(top, _, evil string) {
			for _, hook := range []string{"pre-commit", "post-checkout", "post-commit", "reference-transaction", "post-merge", "pre-rebase", "post-rewrite", "prepare-commit-msg", "commit-msg", "post-index-change"} {
				put(t, filepath.Join(top, ".git/hooks"), hook, "#!/bin/sh\n"+evil)
			}
			run(t, top, "config", "core.fsmonitor", evil)
			run(t, top, "config", "core.editor", evil)
			run(t, top, "config", "gpg.program", evil)
			run(t, top, "config", "commit.gpgSign", "true")
			run(t, top, "config", "diff.external", evil)
		},
		"another repository in the place of the tree's": func(top, tree, evil string) {
			os.Remove(filepath.Join(tree, ".git"))
			run(t, tree, "init", "-q", ".")
			for _, key := range []string{"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge", "diff.evil.textconv", "merge.evil.driver", "diff.external"} {
				run(t, tree, "config", key, evil)
			}
		},
		"a file that leads to another repository": func(top, tree, evil string) {
			other := filepath.Join(tree, "other")
			run(t, tree, "init", "-q", other)
			run(t, other, "config", "core.fsmonitor", evil)
			run(t, other, "config", "filter.evil.clean", evil)
			put(t, tree, ".git", "gitdir: "+filepath.Join(other, ".git")+"\n")
		},
		"a repository inside": func(top, tree, evil string) {
			inside := filepath.Join(tree, "inside")
			run(t, tree, "init", "-q", inside)
			put(t, inside, "x", "x")
			run(t, inside, "add", "x")
			run(t, inside, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "x")
			run(t, inside, "config", "core.fsmonitor", evil)
			run(t, tree, "add", "inside") // as a submodule
		},
	} {
		t.Run(name, func(t *testing.T) {
			top, _, tree := place(t)
			ran := filepath.Join(filepath.Dir(top), "ran")
			attack(top, tree.Path, "touch '"+ran+"'; false")
			os.Remove(ran) // git has run it in the hands of the attacker
			all(tree)
			if _, err := os.Lstat(ran); err == nil {
				t.Error("it was run")
			}
		})
	}
}

// Where the tree, or a directory in it, is a link to somewhere else, nothing is changed there.
func TestHostile_NothingOutside(t *testing.T) {
	for name, attack := range map[string]func(tree, outside string){
		"the tree": func(tree, outside string) {
			os.RemoveAll(tree)
			os.Symlink(outside, tree)
		},
		"a directory": func(tree, outside string) {
			os.RemoveAll(filepath.Join(tree, "dir"))
			os.Symlink(outside, filepath.Join(tree, "dir"))
		},
		"a file": func(tree, outside string) {
			os.Remove(filepath.Join(tree, "a.txt"))
			os.Symlink(filepath.Join(outside, "b.txt"), filepath.Join(tree, "a.txt"))
		},
		"a new one": func(tree, outside string) { os.Symlink(outside, filepath.Join(tree, "new.txt")) },
	} {
		t.Run(name, func(t *testing.T) {
			top, s, tree := place(t)
			outside := filepath.Join(filepath.Dir(top), "outside")
			must.OK(t, os.Mkdir(outside, 0o755))
			put(t, outside, "b.txt", "mine")
			put(t, outside, "c.txt", "mine too")
			attack(tree.Path, outside)
			all(tree)
			for _, name := range []string{"b.txt", "c.txt"} {
				if text, err := os.ReadFile(filepath.Join(outside, name)); err != nil || !strings.HasPrefix(string(text), "mine") {
					t.Errorf("%s: %q, %v", name, text, err)
				}
			}
			if entries, _ := os.ReadDir(outside); len(entries) != 2 {
				t.Error(entries)
			}
			s.List()
		})
	}
}

// A killed run's tree is not lost when its repository is gone: there is only nothing left to be saved, and it can be dropped.
func TestDrop_RepositoryGone(t *testing.T) {
	top, s, tree := place(t)
	must.OK(t, os.RemoveAll(top))
	must.OK(t, tree.Drop())
	if list, err := s.List(); err != nil || len(list) != 0 {
		t.Error(list, err)
	}
}

// output is what git prints.
func output(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	must.OK(t, err)
	return string(out)
}

// A file that is landed does not replace a directory in which the user has staged something, which git itself would drop.
func TestLand_StagedBelow(t *testing.T) {
	top, _, tree := place(t)
	must.OK(t, os.Mkdir(filepath.Join(top, "new"), 0o755))
	put(t, top, "new/mine", "mine")
	run(t, top, "add", "new")
	put(t, tree.Path, "new", "theirs")
	_, err := tree.Commit("work", Done)
	must.OK(t, err)
	if err := tree.Land(context.Background(), nil); err == nil || !strings.Contains(err.Error(), "you have changed the same files: new/mine") {
		t.Error(err)
	}
	if staged := output(t, top, "diff", "--cached", "--name-only"); staged != "new/mine\n" {
		t.Errorf("staged: %q", staged)
	}
}

// What was written into a tree whose setup was killed is kept when that is made again.
func TestEnter_KilledInSetup(t *testing.T) {
	top, s, tree := place(t)
	must.OK(t, tree.save(Making))
	put(t, tree.Path, "mine.txt", "mine")
	tree.Release()
	again, err := s.Plan(top, "", "")
	must.OK(t, err)
	again.ID, again.Run = "run", "run"
	must.OK(t, again.Enter())
	unready := false
	_, err = again.Renew(0, again.Base, Working, func() error {
		unready = true
		return nil
	})
	if must.OK(t, err); !unready || output(t, top, "show", "refs/belay/run/before:mine.txt") != "mine" {
		t.Error(again)
	}
	again.Release()
}

// A file that is staged and changed within a second, to as many bytes, is saved as it is: git finds that out by the time of its index.
func TestSave_WithinASecond(t *testing.T) {
	top, _, tree := place(t)
	for time.Now().Nanosecond() > 1e7 { // else it is more often in two
		time.Sleep(time.Millisecond)
	}
	put(t, tree.Path, "a.txt", "first")
	run(t, tree.Path, "add", "a.txt")
	put(t, tree.Path, "a.txt", "other")
	time.Sleep(1100 * time.Millisecond)
	must.OK(t, tree.Save("attempt-1", Working))
	if text := output(t, top, "show", "refs/belay/run/attempt-1:a.txt"); text != "other" {
		t.Errorf("it has %q", text)
	}
}
