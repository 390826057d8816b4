//go:build linux

package codex_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Who is interrupted says how to go on, and leaves nobody.
func TestStop_WhileItWaits(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGINT, func(t *testing.T, version string) {
				s := newStage(t, version, `tool(bash: "echo made", in=100, out=10), hang`)
				run := s.StartBelay(nil, work("say hi"), nil)
				s.Eventually("it waits for the API", func() bool { return s.Requests() == 2 })
				time.Sleep(300 * time.Millisecond)
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				r.Prints("")
				s.OnRecord(r.Result.SessionID, "interrupted")
				r.Says("to go on: belay run --resume " + r.Result.SessionID + " -- codex exec")
				r.Used(100, 10)
				s.NobodyLeft()
				s.Asked(2)
				if !full {
					return
				}
				// And it can be gone on with.
				s.Rehearse("200(in=200, out=20)")
				again := s.Belay([]string{"--resume", r.Result.SessionID}, work("go on"))
				again.Exits(0)
				again.Used(200, 20)
				s.ToldOnce("say hi", "go on")
			})
		})
	}
}

// endless is a tool that does not end, and starts another that leaves its group and session.
const endless = "touch begun; setsid sleep 299 & sleep 300"

// A tool is stopped with codex, and what it has started.
func TestStop_WhileAToolRuns(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) {
			each(t, sig == syscall.SIGTERM, func(t *testing.T, version string) {
				s := newStage(t, version, "tool(bash: `"+endless+"`)x*")
				run := s.StartBelay(nil, work("say hi"), nil)
				s.Eventually("the tool runs", func() bool { return s.Has("begun") && s.Runs("sleep 299") && s.Runs("sleep 300") })
				run.Signal(sig)
				r := run.Wait()
				r.Exits(128 + int(sig))
				r.Is("interrupted", 1)
				s.NobodyLeft()
				s.Asked(1)
				s.OnRecord(r.Result.SessionID, "interrupted")
			})
		})
	}
}

// So it is for a deadline, which is no reason to try again.
func TestStop_Timeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		// After ten seconds codex asks the model what to do about the tool.
		s := newStage(t, version, "tool(bash: `"+endless+"`), hang")
		r := s.Belay([]string{"--timeout", "20s"}, work("say hi"))
		r.Exits(124)
		r.Is("timeout", 1)
		r.Says("codex exceeded its timeout (20 s) and was terminated")
		s.NobodyLeft()
		s.Asked(2)
	})
}

// And for a total timeout while it waits for a limit.
func TestStop_TotalTimeout(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "hang x*")
		r := s.Belay([]string{"--total-timeout", "15s"}, ask("say hi"))
		r.Exits(124)
		r.Is("timeout", 1)
		s.NobodyLeft()
		s.Asked(1)
	})
}

// A second signal kills at once.
func TestStop_Twice(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `touch begun; trap '' INT TERM; sleep 300; sleep 300`)x*")
		run := s.StartBelay(nil, work("say hi"), nil)
		s.Eventually("the tool runs", func() bool { return s.Has("begun") })
		run.Signal(syscall.SIGINT)
		time.Sleep(50 * time.Millisecond)
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Exits(130)
		s.NobodyLeft()
	})
}

// A good run may leave something in the background: that is told, and ended where that is asked for.
func TestStop_LeftBehind(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `nohup setsid sleep 298 >/dev/null 2>&1 & sleep 0.2`), 200")
		r := s.Belay([]string{"--reap"}, work("say hi"))
		r.Exits(0)
		r.Prints(answer)
		s.NobodyLeft()
	})
}

// Who is interrupted between two attempts says so, and how to go on.
func TestStop_BetweenAttempts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "true", in=100, out=10), 429x*`)
		run := s.StartBelay(nil, work("say hi"), nil)
		s.Eventually("it waits", func() bool { return strings.Contains(run.Stderr.String(), "retry 1 in ") })
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Exits(130)
		r.Is("interrupted", 1)
		r.Says("to go on: belay run --resume " + r.Result.SessionID + " -- codex exec")
		r.Used(100, 10)
		s.Asked(2)
		s.OnRecord(r.Result.SessionID, "interrupted")
	})
}

// The work is done but codex has not left yet, for which it takes five seconds: the answer is not lost.
func TestStop_WhileItLeaves(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=100, out=10)")
		run := s.StartBelay(nil, ask("say hi"), nil)
		s.Eventually("it has its answer", func() bool {
			paths, _ := filepath.Glob(filepath.Join(s.Dir, "api", "home", ".codex", "sessions", "*", "*", "*", "rollout-*.jsonl"))
			return slices.ContainsFunc(paths, func(path string) bool {
				record, _ := os.ReadFile(path)
				return bytes.Contains(record, []byte(`"task_complete"`))
			})
		})
		time.Sleep(time.Second)
		run.Signal(syscall.SIGINT)
		r := run.Wait()
		r.Prints(answer)
		r.Used(100, 10)
	})
}
