//go:build linux

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
)

// Tasks of one repository, each in a tree of its own, land one after the other though the batch is killed again and again: none is done twice, and the check passes on what
// has come together.
func TestWorktree_BatchKilled(t *testing.T) {
	if os.Getenv("BELAY_TEST_TREE_TASKS") == "" {
		stage.InFull(t)
	}
	t.Parallel()
	tasks, kills := faulttest.Count(t, "BELAY_TEST_TREE_TASKS", 4), faulttest.Count(t, "BELAY_TEST_BATCH_KILLS", 1)
	const work = "f=work-$(basename $PWD); test -e $f || echo done >>$f"
	s := claude.New(t, "", strings.Repeat("tool(bash: "+work+"), 200, ", 4*tasks)+"200x*")
	s.Longest = time.Duration(tasks)*15*time.Second + 10*time.Minute
	s.Leaves = true
	git := func(args ...string) string {
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Dir = s.Work
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	line := batchOf(s, tasks, 4, claude.work()...)
	check := `f=work-$(basename $PWD); test "$(cat $f)" = done`
	line = append([]string{"batch", "--worktree", "--land", "--check", check}, line[1:]...)
	random := faulttest.Random(t)
	for n := range kills {
		run := s.Start(s.Command("belay", line...), nil)
		landed := n * tasks / (kills + 1)
		stage.Within(s.Longest, func() bool { return strings.Count(git("log", "--format=%h"), "\n") > landed+1 })
		time.Sleep(faulttest.N(random, 2*time.Second))
		run.Cmd.Process.Kill()
		run.Quietly()
	}
	s.Leaves = false
	s.Run("belay", line...).Exits(0)
	batchResults(s, tasks)
	subjects := git("log", "--format=%s", "main")
	for i := range tasks {
		if n := strings.Count(subjects, fmt.Sprintf("claude: q%d\n", i)); n != 1 {
			t.Errorf("q%d was landed %d times", i, n)
		}
	}
	files, _ := filepath.Glob(filepath.Join(s.Work, "work-*"))
	for _, path := range files {
		if text, err := os.ReadFile(path); err != nil || string(text) != "done\n" {
			t.Errorf("%s: %q, %v", path, text, err)
		}
	}
	if status := git("status", "--short", "--untracked-files=no"); len(files) != tasks || status != "" {
		t.Errorf("%d files of %d tasks: %s", len(files), tasks, status)
	}
	t.Logf("tried %d tasks of claude in one repository with %d kills: all landed once", tasks, kills)
}
