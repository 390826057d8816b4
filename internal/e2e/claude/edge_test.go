//go:build linux

package claude_test

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// A retry goes on in the same stream: every event is there once, the failure that was got over is not, and there is one
// result.
func TestEdge_StreamOverARetry(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `echo x >> made`), 500(x-should-retry=false), 200")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"})
		r.Exits(0)
		r.Is("", 2)
		s.Asked(3)
		s.Wrote("made", "x\n")
		kinds := map[string]int{}
		for line := range strings.Lines(r.Stdout) {
			var e struct {
				Type    string
				Subtype string
				IsError bool `json:"is_error"`
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			kinds[e.Type]++
			if e.IsError {
				t.Errorf("a failure that was got over: %s", line)
			}
		}
		if kinds["result"] != 1 || kinds["user"] != 1 || kinds["assistant"] != 2 || kinds["stream_event"] != 0 || strings.Contains(r.Stdout, "API Error") {
			t.Errorf("%v\n%s", kinds, r.Stdout)
		}
	}, "2.0.77")
}

// Nothing of an attempt that failed before the model said anything is in the stream.
func TestEdge_StreamLeavesNoTrace(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "500(x-should-retry=false)x2, 200")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--output-format", "stream-json", "--verbose"})
		r.Exits(0)
		s.Asked(3)
		if strings.Count(r.Stdout, `"subtype":"init"`) != 1 || strings.Contains(r.Stdout, "API Error") {
			t.Errorf("%s", r.Stdout)
		}
	}, "2.0.77")
}

// A hook that blocks the prompt makes claude end with 0 and a good face.
func TestEdge_PromptBlockedByHook(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		s.File(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}`)
		r := s.Belay(nil, []string{"-p", "say hi"})
		s.Asked(0)
		r.Exits(1)
		r.Is("blocked", 1)
	}, "2.0.77") // says nothing at all
}

// Who is stopped while belay waits for the next attempt is told how to go on.
func TestEdge_InterruptedBetweenAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`), 500(x-should-retry=false)x*")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		run := s.StartBelay([]string{"--base-delay", "2m", "--max-delay", "2m", "--jitter", "none"}, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
		s.Eventually("it waits", func() bool { return strings.Contains(run.Stderr.String(), "retry 1") })
		run.Signal(os.Interrupt)
		r := run.Wait()
		r.Exits(130)
		r.Is("interrupted", 1)
		r.Says("to go on: belay run --resume " + r.Result.SessionID)
		s.OnRecord(r.Result.SessionID, "interrupted")
		s.Asked(2)
	}, "2.0.77")
}

// A claude that somebody else kills has crashed; it is not started again.
func TestEdge_Killed(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		run := s.StartBelay(nil, []string{"-p", "say hi"}, nil)
		s.Eventually("it asks", func() bool { return s.Requests() == 1 })
		for _, p := range s.Left() {
			if p.PID != run.Cmd.Process.Pid {
				p.Kill()
			}
		}
		r := run.Wait()
		r.Exits(137)
		r.Is("crash", 1)
		s.Asked(1)
	})
}

// A pipe that nobody writes to and nobody closes does not keep a run that has its prompt.
func TestEdge_SilentStdin(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := newStage(t, "", "200")
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pw.Close()
	r := s.StartBelay(nil, []string{"-p", "say hi"}, pr).Wait()
	pr.Close()
	r.Exits(0)
	s.Asked(1)
	r.Says("stdin")
}

// A session that was given a name cannot be begun by two at once.
func TestEdge_SameSessionTwice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(after=4s), 200")
		args := []string{"-p", "--session-id", "33333333-3333-4333-8333-333333333333", "say hi"}
		first := s.StartBelay(nil, args, nil)
		s.Eventually("the first asks", func() bool { return s.Requests() == 1 })
		second := s.Belay([]string{"--max-retries", "0"}, args)
		if second.Code == 0 || second.Result.ErrorType != "session_busy" {
			t.Errorf("exit code %d, %+v", second.Code, second.Result)
		}
		first.Wait().Exits(0)
		s.Asked(1)
	})
}

// Another directory has other sessions; --cwd is the one that counts.
func TestEdge_SessionsBelongToADirectory(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.Belay(nil, []string{"-p", "remember pear"})
		first.Exits(0)
		other := filepath.Join(s.Dir, "other")
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		s.Belay([]string{"--cwd", other, "--resume", "last"}, []string{"-p", "go on"}).Exits(2)
		if stage.UpTo(version, "2.1.197") { // later ones find them from everywhere
			gone := s.Belay([]string{"--cwd", other, "--resume", first.Result.SessionID}, []string{"-p", "go on"})
			gone.Exits(1)
			gone.Is("session_not_found", 1)
		}
		s.Asked(1)
		work := s.Work
		s.Work = other
		back := s.Belay([]string{"--cwd", work, "--resume", "last"}, []string{"-p", "go on"})
		back.Exits(0)
		if back.Result.SessionID != first.Result.SessionID {
			t.Errorf("%s, want %s", back.Result.SessionID, first.Result.SessionID)
		}
		s.Work = work
	})
}

// An old claude that does not know an option of ours is started as the user wrote it.
func TestEdge_OlderThanOurOptions(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	// A claude that refuses the option as 1.0.30 did, and is the real one otherwise.
	real := s.Command("claude").Path
	dir := filepath.Join(s.Dir, "old")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nfor a; do case $a in --include-partial-messages) echo \"error: unknown option '$a'\" >&2; exit 1;; esac; done\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	r := s.Belay(nil, []string{"-p", "say hi"})
	r.Exits(0)
	r.Prints(answer)
	r.Says("--include-partial-messages")
	s.Asked(1)
}

// SIGHUP ends it like the others.
func TestEdge_HangUp(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := newStage(t, "", "hang")
	run := s.StartBelay(nil, []string{"-p", "say hi"}, nil)
	s.Eventually("it asks", func() bool { return s.Requests() == 1 })
	run.Signal(syscall.SIGHUP)
	r := run.Wait()
	r.Exits(129)
	r.Is("interrupted", 1)
	s.NobodyLeft()
}

// A reader that is slow loses nothing.
func TestEdge_SlowReader(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	text := strings.Repeat("word ", 40_000)
	s := newStage(t, "", "200(text=`"+text+"`)")
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
