//go:build linux

package agents_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
)

// gitIn makes a repository of the working directory, and returns what calls git in it.
func gitIn(s *stage.Stage) (git func(args ...string) string) {
	git = func(args ...string) string {
		s.T.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=u", "-c", "user.email=u@example.com"}, args...)...)
		cmd.Dir = s.Work
		out, err := cmd.CombinedOutput()
		if err != nil {
			s.T.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return string(out)
	}
	git("init", "-q", "-b", "main")
	git("commit", "-q", "--allow-empty", "-m", "first")
	return git
}

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
	git := gitIn(s)
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

// Codex, which takes over from claude, works in the tree that claude had: as it was made, or with claude's work where --fallback-after-work asks for that. What it does ends on the branch.
func TestWorktree_Fallback(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		flags  []string
		files  string
	}{
		"Fresh":     {"usage-limit(resets=3h), tool(bash: ls >seen), 200x*", nil, "seen"},
		"AfterWork": {"tool(bash: echo half >half), usage-limit(resets=3h), tool(bash: ls >seen), 200x*", []string{"--fallback-after-work"}, "half seen"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fallbackStage(t, tt.script)
			s.File("../config/belay/config.toml", "[fallback.codex]\nargs = [\"--dangerously-bypass-approvals-and-sandbox\"]\n")
			git := gitIn(s)
			line := slices.Concat([]string{"run", "--worktree", "--name", "job", "--fallback", "codex"}, tt.flags, []string{"--", "claude"}, claude.work("note what is here"))
			ran := s.Run("belay", line...)
			ran.Exits(0)
			ran.Says("the work is on branch belay/job (1 commit, ")
			if files := strings.Join(strings.Fields(git("diff", "--name-only", "main", "belay/job")), " "); files != tt.files {
				t.Errorf("the branch has %s", files)
			}
			if subject := git("log", "-1", "--format=%s", "belay/job"); !strings.HasPrefix(subject, "codex: job") {
				t.Errorf("the commit is %s", subject)
			}
			if status := git("status", "--short"); status != "" {
				t.Error(status)
			}
		})
	}
}

// The last session that was started in a directory continues in the tree where it has worked.
func TestWorktree_ResumeLast(t *testing.T) {
	stage.InFull(t)
	t.Parallel()
	s := claude.New(t, "", "tool(bash: echo one >one), 200, tool(bash: ls >two), 200x*")
	git := gitIn(s)
	s.Run("belay", slices.Concat([]string{"run", "--worktree", "--name", "job", "--", "claude"}, claude.work("begin"))...).Exits(0)
	s.Run("belay", slices.Concat([]string{"run", "--worktree", "--resume", "last", "--", "claude"}, claude.work("go on"))...).Exits(0)
	if seen := git("show", "belay/job:two"); seen != "one\ntwo\n" {
		t.Errorf("it has seen %q", seen)
	}
	if list := git("worktree", "list"); strings.Count(list, "\n") != 2 {
		t.Error(list)
	}
}
