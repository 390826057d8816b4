//go:build linux

package agents_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/test/must"
)

// A hook that blocks the prompt makes claude end with 0 as if all were well.
func TestClaude_PromptBlockedByHook(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "200")
		s.File(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}`)
		r := s.Belay(nil, []string{"-p", "say hi"})
		s.Asked(0)
		r.Exits(1)
		r.Is("blocked", 1)
	}, "2.0.77") // says nothing at all
}

// A pipe that nothing is written to and that stays open does not keep a run that has its prompt.
func TestClaude_SilentStdin(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := claude.New(t, "", "200")
	pr, pw, err := os.Pipe()
	must.OK(t, err)
	defer pw.Close()
	r := s.StartBelay(nil, []string{"-p", "say hi"}, pr).Wait()
	pr.Close()
	r.Exits(0)
	s.Asked(1)
	r.Says("stdin")
}

// A session that was given a name cannot be begun by two at once.
func TestClaude_SameSessionTwice(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "hang, 200")
		args := []string{"-p", "--session-id", "33333333-3333-4333-8333-333333333333", "say hi"}
		first := s.StartBelay(nil, args, nil)
		s.Eventually("the first asks", func() bool { return s.Requests() == 1 })
		second := s.Belay([]string{"--max-retries", "0"}, args)
		if second.Code == 0 || second.Result.ErrorType != "session_busy" {
			t.Errorf("exit code %d, %+v", second.Code, second.Result)
		}
		first.Signal(os.Interrupt)
		first.Wait().Exits(130)
		s.Asked(1)
	})
}

// An old claude that does not know an option of ours is started as the user wrote it.
func TestClaude_OlderThanOurOptions(t *testing.T) {
	t.Parallel()
	s := claude.New(t, "", "200")
	// A claude that refuses the option as 1.0.30 did, and is the real one otherwise.
	real := s.Command("claude").Path
	dir := filepath.Join(s.Dir, "old")
	must.OK(t, os.Mkdir(dir, 0o700))
	script := "#!/bin/sh\nfor a; do case $a in --include-partial-messages) echo \"error: unknown option '$a'\" >&2; exit 1;; esac; done\nexec '" + real + "' \"$@\"\n"
	must.OK(t, built.WriteFile(filepath.Join(dir, "claude"), []byte(script)))
	s.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	r := s.Belay(nil, []string{"-p", "say hi"})
	r.Exits(0)
	r.Prints(answer)
	r.Says("--include-partial-messages")
	s.Asked(1)
}

// A reader that is slow loses nothing.
func TestClaude_SlowReader(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	text := strings.Repeat("word ", 40_000)
	s := claude.New(t, "", "200(text=`"+text+"`)")
	run, stdout := s.StartPiped("belay", "run", "--", "claude", "-p", "say hi", "--output-format", "stream-json", "--verbose")
	var all strings.Builder
	buf := make([]byte, 8<<10)
	for {
		n, err := stdout.Read(buf)
		all.Write(buf[:n])
		if err == io.EOF {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	run.Wait().Exits(0)
	if strings.Count(all.String(), text) != 2 { // of the model, and in the result
		t.Errorf("%d bytes came", all.Len())
	}
}
