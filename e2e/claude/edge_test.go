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

	"github.com/belay-run/belay/internal/clitest"
)

// A retry goes on in the same stream: every event is there once, the failure that was got over is not, and there is one
// result.
func TestEdge_StreamOverARetry(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `echo x >> made`), 500(x-should-retry=false), 200")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose"})
		r.exits(0)
		r.is("", 2)
		s.asked(3)
		s.wrote("made", "x\n")
		kinds := map[string]int{}
		for line := range strings.Lines(r.stdout) {
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
		if kinds["result"] != 1 || kinds["user"] != 1 || kinds["assistant"] != 2 || kinds["stream_event"] != 0 || strings.Contains(r.stdout, "API Error") {
			t.Errorf("%v\n%s", kinds, r.stdout)
		}
	}, "2.0.77")
}

// Nothing of an attempt that failed before the model said anything is in the stream.
func TestEdge_StreamLeavesNoTrace(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "500(x-should-retry=false)x2, 200")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--output-format", "stream-json", "--verbose"})
		r.exits(0)
		s.asked(3)
		if strings.Count(r.stdout, `"subtype":"init"`) != 1 || strings.Contains(r.stdout, "API Error") {
			t.Errorf("%s", r.stdout)
		}
	}, "2.0.77")
}

// A hook that blocks the prompt makes claude end with 0 and a good face.
func TestEdge_PromptBlockedByHook(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		s.file(".claude/settings.json", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}`)
		r := s.belay(nil, []string{"-p", "say hi"})
		s.asked(0)
		r.exits(1)
		r.is("blocked", 1)
	}, "2.0.77") // says nothing at all
}

// Who is stopped while belay waits for the next attempt is told how to go on.
func TestEdge_InterruptedBetweenAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`), 500(x-should-retry=false)x*")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		run := s.startBelay([]string{"--base-delay", "2m", "--max-delay", "2m", "--jitter", "none"}, []string{"-p", "say hi", "--allowedTools", "Bash"}, nil)
		s.eventually("it waits", func() bool { return strings.Contains(run.stderr.String(), "retry 1") })
		run.cmd.Process.Signal(os.Interrupt)
		r := run.wait()
		r.exits(130)
		r.is("interrupted", 1)
		r.says("to go on: belay run --resume " + r.result.SessionID)
		if s.onRecord(r.result.SessionID) != "interrupted" {
			t.Errorf("the session is on record as %s", s.onRecord(r.result.SessionID))
		}
		s.asked(2)
	}, "2.0.77")
}

// A claude that somebody else kills has crashed; it is not started again.
func TestEdge_Killed(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		run := s.startBelay(nil, []string{"-p", "say hi"}, nil)
		s.eventually("it asks", func() bool { return s.requests() == 1 })
		for _, p := range s.left() {
			if p.pid != run.cmd.Process.Pid {
				syscall.Kill(p.pid, syscall.SIGKILL)
			}
		}
		r := run.wait()
		r.exits(137)
		r.is("crash", 1)
		s.asked(1)
	})
}

// A pipe that nobody writes to and nobody closes does not keep a run that has its prompt.
func TestEdge_SilentStdin(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	s := newStage(t, "", "200")
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pw.Close()
	r := s.startBelay(nil, []string{"-p", "say hi"}, pr).wait()
	pr.Close()
	r.exits(0)
	s.asked(1)
	r.says("stdin")
}

// A session that was given a name cannot be begun by two at once.
func TestEdge_SameSessionTwice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(after=4s), 200")
		args := []string{"-p", "--session-id", "33333333-3333-4333-8333-333333333333", "say hi"}
		first := s.startBelay(nil, args, nil)
		s.eventually("the first asks", func() bool { return s.requests() == 1 })
		second := s.belay([]string{"--max-retries", "0"}, args)
		if second.code == 0 || second.result.ErrorType != "session_busy" {
			t.Errorf("exit code %d, %+v", second.code, second.result)
		}
		first.wait().exits(0)
		s.asked(1)
	})
}

// Another directory has other sessions; --cwd is the one that counts.
func TestEdge_SessionsBelongToADirectory(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.belay(nil, []string{"-p", "remember pear"})
		first.exits(0)
		other := filepath.Join(s.dir, "other")
		if err := os.Mkdir(other, 0o700); err != nil {
			t.Fatal(err)
		}
		s.belay([]string{"--cwd", other, "--resume", "last"}, []string{"-p", "go on"}).exits(2)
		if version != clitest.NewestClaude { // which finds them from everywhere
			gone := s.belay([]string{"--cwd", other, "--resume", first.result.SessionID}, []string{"-p", "go on"})
			gone.exits(1)
			gone.is("session_not_found", 1)
		}
		s.asked(1)
		work := s.work
		s.work = other
		back := s.belay([]string{"--cwd", work, "--resume", "last"}, []string{"-p", "go on"})
		back.exits(0)
		if back.result.SessionID != first.result.SessionID {
			t.Errorf("%s, want %s", back.result.SessionID, first.result.SessionID)
		}
		s.work = work
	})
}

// An old claude that does not know an option of ours is started as the user wrote it.
func TestEdge_OlderThanOurOptions(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	// A claude that refuses the option as 1.0.30 did, and is the real one otherwise.
	real := s.command("claude").Path
	dir := filepath.Join(s.dir, "old")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nfor a; do case $a in --include-partial-messages) echo \"error: unknown option '$a'\" >&2; exit 1;; esac; done\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "claude"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	s.env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	r := s.belay(nil, []string{"-p", "say hi"})
	r.exits(0)
	r.prints(answer)
	r.says("--include-partial-messages")
	s.asked(1)
}

// SIGHUP ends it like the others.
func TestEdge_HangUp(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	s := newStage(t, "", "hang")
	run := s.startBelay(nil, []string{"-p", "say hi"}, nil)
	s.eventually("it asks", func() bool { return s.requests() == 1 })
	run.cmd.Process.Signal(syscall.SIGHUP)
	r := run.wait()
	r.exits(129)
	r.is("interrupted", 1)
	s.nobodyLeft()
}

// A reader that is slow loses nothing.
func TestEdge_SlowReader(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	text := strings.Repeat("word ", 40_000)
	s := newStage(t, "", "200(text=`"+text+"`)")
	pr, pw, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pr.Close()
	cmd := s.command("belay", "run", "--", "claude", "-p", "say hi", "--output-format", "stream-json", "--verbose")
	cmd.Stdout = pw
	run := s.start(cmd, nil)
	pw.Close()
	var all strings.Builder
	buf := make([]byte, 8<<10)
	for {
		n, err := pr.Read(buf)
		all.Write(buf[:n])
		if err == io.EOF {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	run.wait().exits(0)
	if strings.Count(all.String(), text) != 2 { // of the model, and in the result
		t.Errorf("%d bytes came", all.Len())
	}
}
