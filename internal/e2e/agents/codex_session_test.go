//go:build linux

package agents_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// Codex takes a name that it does not know for the start of a new thread, with exit 0. As a session to resume it is refused
// at once; TestCodex_ResumeNothing has it in codex's own arguments.
func TestCodex_ResumeName(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, "200")
		r := s.Belay([]string{"--resume", "no-such-name"}, codexAsk("go on"))
		r.Exits(2)
		r.Prints("")
		r.Says("no-such-name")
		s.Asked(0)
	})
}

// A thread other than the one that was asked for is no success: its record has another id.
func TestCodex_ResumeAnotherThread(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, "200")
		first := s.Belay(nil, codexAsk("first"))
		first.Exits(0)
		// Codex goes by the file's name, and takes what the file says for the thread.
		paths, _ := filepath.Glob(filepath.Join(s.Dir, "api", "home", ".codex", "sessions", "*", "*", "*", "rollout-*"+first.Result.SessionID+".jsonl"))
		if len(paths) != 1 {
			t.Fatalf("%q", paths)
		}
		must.OK(t, os.Rename(paths[0], strings.ReplaceAll(paths[0], first.Result.SessionID, codex.noSession)))
		r := s.Belay([]string{"--resume", codex.noSession}, codexAsk("go on"))
		if r.Result.Success || r.Result.ErrorType != "session_not_found" || r.Code == 0 {
			t.Errorf("exit code %d, %+v", r.Code, r.Result)
		}
	})
}

// A thread that the command line itself resumes goes on too when an attempt fails.
func TestCodex_ResumeOwnCommandFails(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, `200(in=100, out=10), tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		first := s.Belay(nil, codexWork("first"))
		first.Exits(0)
		r := s.Belay(soon, codexWork("resume", first.Result.SessionID, "second"))
		r.Exits(0)
		r.Is("", 2)
		r.Used(200, 20)
		s.Asked(4)
		s.Wrote("made", "x\n")
		s.ToldOnce("first", "second", "Continue where you left off.")
		if r.Result.SessionID != first.Result.SessionID || !r.Result.Resumed {
			t.Errorf("%+v", r.Result)
		}
	})
}

// A thread that codex was told not to keep cannot be gone on with: it begins anew, and the result says so.
func TestCodex_ResumeEphemeral(t *testing.T) {
	codex.Each(t, false, func(t *testing.T, version string) {
		s := codex.New(t, version, `tool(bash: "echo x >> made", in=100, out=10), overloaded-mid, 200(in=100, out=10)`)
		r := s.Belay(soon, codexWork("--ephemeral", "say hi"))
		r.Exits(0)
		r.Prints(answer)
		s.Asked(3)
		if last := s.LastTold(); len(last) != 1 || last[0] != "say hi" || r.Result.Resumed {
			t.Errorf("the last request says %q; resumed %v", last, r.Result.Resumed)
		}
	})
}

// A session that does not exist is not found, however it was asked for: codex begins another one without a word.
func TestCodex_ResumeNothing(t *testing.T) {
	codex.Each(t, true, func(t *testing.T, version string) {
		lines := [][]string{codexAsk("resume", "no-such-name", "say hi"), codexAsk("resume", "--last", "say hi"), codexAsk("--json", "resume", "no-such-name", "say hi")}
		for i, args := range lines {
			if !clitest.OneOf(3, i) {
				continue
			}
			s := codex.New(t, version, "200x*")
			r := s.Belay(nil, args)
			r.Exits(1)
			r.Is("session_not_found", 1)
			r.Says("began a new thread")
			if i == 1 { // now there is one
				r = s.Belay(nil, args)
				r.Exits(0)
				r.Is("", 1)
			}
		}
	})
}

// Whatever options a command line has, codex takes it as planned: afresh, and resumed with the same options.
func TestCodex_TakesPlannedArguments(t *testing.T) {
	codex.Each(t, true, func(t *testing.T, version string) {
		const quick = "--skip-git-repo-check"
		for i, options := range [][]string{
			{"exec", quick, "-o", "last.txt", "--output-schema", "schema.json", "--color", "never", "-s", "read-only"},
			{"exec", quick},
			{"-a", "never", "-m", "exec", "e", quick, "-C", "sub", "--add-dir", "."},
			{"exec", quick, "-c", "model_reasoning_effort=low", "--image", "none.png", "other.png", "-c", "hide_agent_reasoning=true"},
		} {
			if !clitest.OneOf(4, i) {
				continue
			}
			s := codex.New(t, version, "200(in=10, out=5)x*")
			s.File("schema.json", `{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
			s.File("sub/file", "")
			first := s.Belay(nil, append(slices.Clone(options), "first"))
			os.Remove(filepath.Join(s.Work, "last.txt"))
			again := s.Belay([]string{"--resume", first.Result.SessionID}, append(slices.Clone(options), "second"))
			for _, r := range []*stage.Ran{first, again} {
				r.Exits(0)
				r.Is("", 1)
				r.Used(10, 5) // what a thread has used before is not counted again
			}
			s.ToldOnce("first", "second")
			if again.Result.SessionID != first.Result.SessionID || s.Has("last.txt") != slices.Contains(options, "-o") {
				t.Errorf("%q: %+v after %+v", options, again.Result, first.Result)
			}
		}
	})
}
