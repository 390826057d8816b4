//go:build unix

package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// Trees that earlier versions have made, and what those have put on record of them, are shown, landed and dropped. The records are of the first version that had any.
func TestRecord_FirstVersion(t *testing.T) {
	root := t.TempDir()
	top, s := filepath.Join(root, "repo"), Of(filepath.Join(root, "state"), nil)
	must.OK(t, os.MkdirAll(top, 0o755))
	must.OK(t, os.MkdirAll(s.Dir, 0o700))
	put(t, top, "a.txt", "one\n")
	run(t, top, "init", "-q", "-b", "main")
	run(t, top, "add", "-A")
	run(t, top, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", "one")
	plan, err := s.Plan(top, "", "")
	must.OK(t, err)
	for _, state := range []string{"making", "working", "killed", "failed", "done", "landing", "conflict", "interrupted"} {
		path := filepath.Join(s.Dir, "repo-"+state)
		run(t, top, "worktree", "add", "-q", "-b", "belay/"+state, path, "main")
		put(t, path, state, "new\n")
		if state == "failed" || state == "done" || state == "landing" || state == "conflict" {
			run(t, path, "add", "-A")
			run(t, path, "-c", "user.name=u", "-c", "user.email=u@example.com", "commit", "-qm", state)
		}
		run(t, top, "update-ref", "refs/belay/run-"+state+"/attempt-1", "main")
		record := fmt.Sprintf(`{"id":"id-%[1]s","run":"run-%[1]s","top":%[2]q,"common":%[3]q,"prefix":"","base":%[4]q,"onto":"main","path":%[5]q,"admin":%[6]q,"branch":"belay/%[1]s",`+
			`"state":%[1]q,"saved":["refs/belay/run-%[1]s/attempt-1"],"created":"2026-11-19T02:00:00Z","updated":"2026-11-19T02:00:00Z","made":"4b825dc642cb6eb9a060e54bf8d69288fbee4904"}`+"\n",
			state, top, filepath.Join(top, ".git"), plan.Base, path, filepath.Join(top, ".git/worktrees/repo-"+state))
		must.OK(t, os.WriteFile(filepath.Join(s.Dir, "id-"+state+".json"), []byte(record), 0o600))
	}
	list, err := s.List()
	if must.OK(t, err); len(list) != 8 {
		t.Fatalf("%d trees", len(list))
	}
	for _, tree := range list {
		name := strings.TrimPrefix(tree.ID, "id-")
		must.OK(t, tree.Take(0))
		if diff, err := tree.Diff(); err != nil || !strings.Contains(diff, "+++ b/"+name) {
			t.Errorf("%s: %v, %s", name, err, diff)
		}
		_, err := tree.Commit("work", Done)
		must.OK(t, err)
		must.OK(t, tree.Land(context.Background(), nil))
		if _, err := os.Stat(filepath.Join(top, name)); err != nil || tree.State != Landed {
			t.Error(tree.State, err)
		}
		must.OK(t, tree.Drop())
	}
	if left := output(t, top, "for-each-ref", "refs/belay", "refs/heads/belay") + output(t, s.Dir, "-C", top, "worktree", "list"); strings.Count(left, "\n") != 1 {
		t.Error(left)
	}
}
