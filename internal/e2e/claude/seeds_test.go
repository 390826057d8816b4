//go:build linux

package claude_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// entry is a line of a log of attempts.
type entry struct {
	Timestamp    string
	PromptHash   string `json:"prompt_hash"`
	Attempt      int
	Status       string
	ErrorType    *string  `json:"error_type"`
	WaitTime     *float64 `json:"wait_time"`
	ResponseTime *float64 `json:"response_time"`
}

// entries reads a log.
func entries(t *testing.T, path string) (list []entry) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v in %s", err, lines.Bytes())
		}
		list = append(list, e)
	}
	return list
}

// ownLog is where claude's attempts are on record in the working directory.
func ownLog(s *stage.Stage) string { return filepath.Join(s.Work, ".logs", "claude_invocations.jsonl") }

// Seed000 are the twelve scenarios of the design that asked for a client of the Claude CLI, by their numbers.
func TestSeed000(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *stage.Stage){
		"010_HappyPath": func(t *testing.T, s *stage.Stage) {
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(0)
			r.Is("", 1)
			r.Prints(answer)
			s.Asked(1)
		},
		"020_RetryOn429": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("429, 200")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"} // so that the retry is not claude's own
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(0)
			r.Is("", 2)
			s.Asked(2)
			if r.Result.Waited <= 0 {
				t.Errorf("waited %v", r.Result.Waited)
			}
		},
		"030_MaxRetriesExhausted": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("429x*")
			s.Env = []string{"CLAUDE_MAX_RETRIES=5"}
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(75)
			s.Asked(5)
			if r.Result.ErrorType != "rate_limit" || r.Result.Success || r.Result.Result != "" || !strings.HasSuffix(r.Result.Error, "retry later") {
				t.Errorf("%+v", r.Result)
			}
			if log := entries(t, ownLog(s)); log[len(log)-1].Status != "exhausted" {
				t.Errorf("%+v", log)
			}
		},
		"040_AuthError": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("401x*")
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(78)
			r.Is("auth", 1)
			s.Asked(1)
		},
		"050_Timeout": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("hang x*")
			r := s.Belay([]string{"--timeout", "12s"}, []string{"-p", "say hi"})
			r.Exits(124)
			r.Is("timeout", 1)
			s.Asked(1)
		},
		"060_Backoff": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("500x*")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.2", "CLAUDE_MAX_DELAY=0.5", "CLAUDE_JITTER_FACTOR=0"}
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(75)
			r.Is("server_error", 5)
			s.Asked(5)
			var waits []string
			for _, e := range entries(t, ownLog(s)) {
				if e.WaitTime != nil {
					waits = append(waits, fmt.Sprintf("%g", *e.WaitTime))
				}
			}
			if got := strings.Join(waits, " "); !strings.HasPrefix(got, "0.2 0.4 0.5 0.5") {
				t.Errorf("it waited %s s", got)
			}
		},
		"070_Jitter": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("500x*")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.5", "CLAUDE_MAX_DELAY=0.5", "CLAUDE_JITTER_FACTOR=0.2"}
			s.Belay(nil, []string{"-p", "say hi"}).Exits(75)
			different := map[float64]bool{}
			for _, e := range entries(t, ownLog(s))[:4] {
				different[*e.WaitTime] = true
				if math.Abs(*e.WaitTime-0.5) > 0.1001 {
					t.Errorf("it waited %v s", *e.WaitTime)
				}
			}
			if len(different) < 2 {
				t.Errorf("it always waited %v s", different)
			}
		},
		"080_Logging": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("500, 200")
			s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.1"}
			s.Belay(nil, []string{"-p", "a secret prompt"}).Exits(0)
			log := entries(t, ownLog(s))
			if len(log) != 2 || log[0].Status != "retry" || log[0].ErrorType == nil || *log[0].ErrorType != "server_error" || log[1].Status != "success" || log[1].Attempt != 2 {
				t.Fatalf("%+v", log)
			}
			sum := sha256.Sum256([]byte("a secret prompt"))
			for _, e := range log {
				if _, err := time.Parse(time.RFC3339, e.Timestamp); err != nil || e.PromptHash != hex.EncodeToString(sum[:]) || e.ResponseTime == nil || *e.ResponseTime <= 0 {
					t.Errorf("%v: %+v", err, e)
				}
			}
			for _, path := range []string{ownLog(s), filepath.Join(s.State, "log.jsonl")} {
				info, err := os.Stat(path)
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v", err, info)
				}
				if data, _ := os.ReadFile(path); strings.Contains(string(data), "secret prompt") {
					t.Errorf("the prompt is in %s", path)
				}
			}
		},
		"090_Environment": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("500x*")
			s.Env = []string{"CLAUDE_MAX_RETRIES=2", "CLAUDE_BASE_DELAY=0.1"}
			s.Belay(nil, []string{"-p", "say hi"}).Exits(75)
			s.Asked(2)
			for _, bad := range []string{"CLAUDE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=many", "CLAUDE_BASE_DELAY=soon", "CLAUDE_JITTER_FACTOR=x"} {
				s.Env = []string{bad}
				r := s.Belay(nil, []string{"-p", "say hi"})
				r.Exits(2)
				r.Says(strings.SplitN(bad, "=", 2)[0])
			}
			s.Asked(2)
		},
		"100_NothingElseStartsIt": func(t *testing.T, s *stage.Stage) {
			s.Rehearse("hang")
			run := s.StartBelay(nil, []string{"-p", "say hi"}, nil)
			s.Eventually("it asks", func() bool { return s.Requests() == 1 })
			for _, p := range s.Left() {
				if strings.Contains(p.Args, "stream-json") && !strings.Contains(p.Args, "belay run") && parent(p.PID) != run.Cmd.Process.Pid {
					t.Errorf("%v was started by %d, not by belay, %d", p, parent(p.PID), run.Cmd.Process.Pid)
				}
			}
			run.Signal(os.Interrupt)
			run.Wait().Exits(130)
		},
		"110_LogDir": func(t *testing.T, s *stage.Stage) {
			dir := filepath.Join(s.Dir, "elsewhere")
			s.Env = []string{"CLAUDE_LOG_DIR=" + dir}
			s.Belay(nil, []string{"-p", "say hi"}).Exits(0)
			if log := entries(t, filepath.Join(dir, "claude_invocations.jsonl")); len(log) != 1 {
				t.Errorf("%+v", log)
			}
			if s.Has(".logs") {
				t.Error("there is a log in the working directory too")
			}
		},
		"120_NoShell": func(t *testing.T, s *stage.Stage) {
			prompt := "$(touch made) `touch made`; touch made & | > made \"quoted\" 'single' \\ * ~ $HOME\nline"
			s.Belay(nil, []string{"-p", prompt}).Exits(0)
			s.Belay([]string{"--prompt", prompt}, []string{"-p"}).Exits(0)
			s.Asked(2)
			for _, q := range s.API.Main() {
				if texts := s.Told(q); stage.Count(texts, prompt) != 1 {
					t.Errorf("it has become %q", texts)
				}
			}
			if s.Has("made") {
				t.Error("a shell has read the prompt")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			if !full && !strings.HasPrefix(name, "080") && !strings.HasPrefix(name, "120") {
				t.Skip("only with BELAY_TEST_FULL=1")
			}
			t.Parallel()
			test(t, newStage(t, "", "200"))
		})
	}
}

// parent is the parent of a process.
func parent(pid int) (ppid int) {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		fmt.Sscanf(line, "PPid: %d", &ppid)
	}
	return ppid
}

// TRNS-05: limits and transient failures are repeated with back-off, what is wrong in itself is not.
func TestTRNS05_Retry(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "500(x-should-retry=false), reset, 200")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms", "--preset", "transport"}, []string{"-p", "say hi"})
		r.Exits(0)
		if len(r.Result.Errors) != r.Result.Attempts-1 || r.Result.Attempts < 2 {
			t.Errorf("%+v", r.Result)
		}
		s.Asked(3)
		gone := s.Run("belay", "run", "--", "claude-is-not-installed", "-p", "hi")
		gone.Exits(127)
		s.Asked(3)
	}, "2.0.77")
}

// TRNS-06: the session's id is captured, and a later call goes on with it; only if that call says so.
func TestTRNS06_Session(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.Belay(nil, []string{"-p", "remember pear"})
		first.Exits(0)
		if !stage.IsUUID(first.Result.SessionID) || first.Result.SessionID != s.API.Main()[0].Session && !stage.UpTo(version, "2.0.77") {
			t.Errorf("session %q, the API has seen %q", first.Result.SessionID, s.API.Main()[0].Session)
		}
		second := s.Belay([]string{"--resume", first.Result.SessionID}, []string{"-p", "and now?"})
		second.Exits(0)
		if second.Result.SessionID != first.Result.SessionID {
			t.Errorf("session %s, want %s", second.Result.SessionID, first.Result.SessionID)
		}
		s.Env = []string{"BELAY_RESUME=" + first.Result.SessionID}
		third := s.Belay(nil, []string{"-p", "who are you?"})
		if third.Result != nil && third.Result.SessionID == first.Result.SessionID {
			t.Error("the environment has resumed a session")
		}
	})
}

// OUT-03: the result as text or JSON in place of claude's own output.
func TestOUT03_Format(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=1234, out=56)x*")
		object := s.Run("belay", "run", "--output-format", "json", "--", "claude", "-p", "say hi")
		object.Exits(0)
		var r stage.Result
		if err := json.Unmarshal([]byte(object.Stdout), &r); err != nil || !r.Success || r.Result != strings.TrimSuffix(answer, "\n") || r.Usage.Input != 1234 {
			t.Errorf("%v, %+v", err, r)
		}
		text := s.Run("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi")
		text.Exits(0)
		for _, part := range []string{"Status: SUCCESS\n", answer, "Session: ", "Tokens: 1,234 input / 56 output\n", "Cost: $0.0", "Duration: ", "ms\n"} {
			if !strings.Contains(text.Stdout, part) {
				t.Errorf("no %q in\n%s", part, text.Stdout)
			}
		}
		s.Rehearse("404x*")
		text = s.Run("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi")
		text.Exits(1)
		if !strings.HasPrefix(text.Stdout, "Status: FAILED\n") || !strings.Contains(text.Stdout, "not_found") {
			t.Errorf("%s", text.Stdout)
		}
		s.Rehearse("200(text=`" + strings.Repeat("long ", 1000) + "`)")
		text = s.Run("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi")
		if !strings.Contains(text.Stdout, "… (truncated)\n") {
			t.Errorf("%s", text.Stdout)
		}
	})
}

// OUT-04: tokens and cost are those of all attempts; a call that never came to the model has none.
func TestOUT04_Usage(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`, in=100, out=10), 500(x-should-retry=false), 200(in=200, out=20)")
		s.Env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.Exits(0)
		r.Is("", 2)
		r.Used(300, 30)
		if r.Result.Usage.Cost == nil || *r.Result.Usage.Cost <= 0 {
			t.Errorf("cost %v", show(r.Result.Usage.Cost))
		}
		once := s.Belay(nil, []string{"-p", "--no-such-flag"})
		once.Used(0, 0)
		if once.Result.Usage.Cost != nil && *once.Result.Usage.Cost != 0 {
			t.Errorf("cost %v", show(once.Result.Usage.Cost))
		}
	}, "2.0.77")
}

// INTEG-04: a long prompt reaches claude by stdin: no limit of the system, nothing in the process table, no file left.
func TestINTEG04_LongPrompt(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(after=2s)x*")
		text := long(100_000)
		run := s.StartBelay(nil, []string{"-p", text}, nil)
		s.Eventually("it asks", func() bool { return s.Requests() == 1 })
		for _, p := range s.Left() {
			if strings.Contains(p.Args, "BEGIN") && !strings.Contains(p.Args, "belay run") {
				t.Errorf("the prompt is in the process table: %v", p)
			}
		}
		run.Wait().Exits(0)
		big := long(2_000_000)
		s.Belay([]string{"--prompt-file", s.File("big.txt", big)}, []string{"-p"}).Exits(0)
		for i, want := range []string{text, big} {
			if texts := s.Told(s.API.Main()[i]); stage.Count(texts, want) != 1 {
				t.Errorf("prompt %d has not arrived", i+1)
			}
		}
		keepsNo(s, "BEGIN ")
	})
}

// keepsNo checks that nothing in the state directory holds a text.
func keepsNo(s *stage.Stage, text string) {
	s.T.Helper()
	for _, dir := range []string{"state", ".tmp"} {
		filepath.WalkDir(filepath.Join(s.Dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(path, "claude-") {
				return nil
			}
			if data, _ := os.ReadFile(path); strings.Contains(string(data), text) {
				s.T.Errorf("%s holds the prompt", path)
			}
			return nil
		})
	}
}

// INTEG-05: however a call ends, it has a class and an exit code of its own, and leaves no process and no record behind.
func TestINTEG05_Cleanup(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		for _, c := range []struct {
			script string
			flags  []string
			code   int
			class  string
		}{
			{"tool(bash: `touch begun; tail -f /dev/null & true`), 200", nil, 0, ""},
			{"tool(bash: `tail -f /dev/null & exit 1`), 404x*", nil, 1, "not_found"},
			{"tool(bash: `tail -f /dev/null`), 200", []string{"--timeout", "20s"}, 124, "timeout"},
			{"403x*", nil, 78, "auth"},
		} {
			s.Rehearse(c.script)
			r := s.Belay(append([]string{"--reap"}, c.flags...), []string{"-p", "say hi", "--allowedTools", "Bash"})
			r.Exits(c.code)
			r.Is(c.class, 1)
			s.NobodyLeft()
			if runs, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(runs) > 0 {
				t.Errorf("%s: records are left: %v", c.script, runs)
			}
		}
	}, "2.0.77") // its Bash waits two minutes for what was left in the background
}
