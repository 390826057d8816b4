//go:build linux

package agents_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// repository makes the working directory one with something to review in it.
func repository(s *stage.Stage) {
	s.T.Helper()
	s.File("new.txt", "something new\n")
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = s.Work, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			s.T.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
}

// review is a command line that asks for one.
func review(more ...string) []string {
	return append([]string{"exec", "review", "--skip-git-repo-check"}, more...)
}

// A review is a run of codex like any other: what fails is tried again, what cannot help is not, and it is counted.
func TestCodex_Review(t *testing.T) {
	codex.Each(t, true, func(t *testing.T, version string) {
		s := codex.New(t, version, `429(retry-after=1), 200(in=100, out=7, text="Looks good.")`)
		repository(s)
		r := s.Belay(soon, review("--uncommitted"))
		r.Exits(0)
		r.Prints("Looks good.\n")
		s.Asked(2)
		if !r.Result.Success || !stage.IsUUID(r.Result.SessionID) {
			t.Errorf("%+v", r.Result)
		}
		if !stage.UpTo(version, "0.147.0") { // whose record does not say which thread the reviewer's is
			r.Used(100, 7)
		}

		s.Rehearse("401x*")
		r = s.Belay(soon, review("--uncommitted"))
		r.Exits(78)
		r.Is("auth", 1)
		r.Prints("")
	})
}

// What has failed after the reviewer had begun is begun anew: a review cannot be resumed.
func TestCodex_Review_Anew(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		for _, form := range [][]string{nil, {"--json"}} {
			s := codex.New(t, version, `tool(bash: echo made), overloaded-mid, 200(text="Looks good.")`)
			repository(s)
			r := s.Belay(soon, append(review("--uncommitted"), form...))
			r.Exits(0)
			r.Is("", 2)
			s.Asked(3)
			if !strings.Contains(r.Stdout, "Looks good.") || strings.Contains(r.Stdout, "Review was interrupted") {
				t.Errorf("%s", r.Stdout)
			}
		}
	})
}

// It reads stdin only where it is told to, and does not wait for it otherwise.
func TestCodex_Review_Stdin(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, "200x*")
		repository(s)
		open, hold, err := os.Pipe()
		must.OK(t, err)
		defer open.Close()
		defer hold.Close()
		r := s.StartBelay(nil, review("--uncommitted"), open).Wait()
		r.Exits(0)
		if strings.Contains(r.Stderr, "stdin") {
			t.Errorf("%s", r.Stderr)
		}
		for _, start := range []func() *stage.Running{
			func() *stage.Running { return s.StartBelay(nil, review("-"), strings.NewReader("look at the moon")) },
			func() *stage.Running { return s.StartBelay([]string{"--prompt", "look at the moon"}, review(), nil) },
			func() *stage.Running {
				return s.StartBelay(nil, review("look at the moon"), strings.NewReader("and at the sun"))
			},
		} {
			before := s.Requests()
			start().Wait().Exits(0)
			texts := s.Told(s.API.Main()[before])
			if stage.Count(texts, "look at the moon") != 1 || stage.Count(texts, "sun") != 0 {
				t.Errorf("%q", texts)
			}
		}
	})
}
