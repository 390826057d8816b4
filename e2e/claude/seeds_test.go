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
func (s *stage) entries(path string) (list []entry) {
	s.t.Helper()
	f, err := os.Open(path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			s.t.Fatalf("%v in %s", err, lines.Bytes())
		}
		list = append(list, e)
	}
	return list
}

// ownLog is where claude's attempts are on record in the working directory.
func (s *stage) ownLog() string { return filepath.Join(s.work, ".logs", "claude_invocations.jsonl") }

// Seed000 are the twelve scenarios of the design that asked for a client of the Claude CLI, by their numbers.
func TestSeed000(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *stage){
		"010_HappyPath": func(t *testing.T, s *stage) {
			r := s.belay(nil, []string{"-p", "say hi"})
			r.exits(0)
			r.is("", 1)
			r.prints(answer)
			s.asked(1)
		},
		"020_RetryOn429": func(t *testing.T, s *stage) {
			s.rehearse("429, 200")
			s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"} // so that the retry is not claude's own
			r := s.belay(nil, []string{"-p", "say hi"})
			r.exits(0)
			r.is("", 2)
			s.asked(2)
			if r.result.Waited <= 0 {
				t.Errorf("waited %v", r.result.Waited)
			}
		},
		"030_MaxRetriesExhausted": func(t *testing.T, s *stage) {
			s.rehearse("429x*")
			s.env = []string{"CLAUDE_MAX_RETRIES=5"}
			r := s.belay(nil, []string{"-p", "say hi"})
			r.exits(75)
			s.asked(5)
			if r.result.ErrorType != "rate_limit" || r.result.Success || r.result.Result != "" || !strings.HasSuffix(r.result.Error, "retry later") {
				t.Errorf("%+v", r.result)
			}
			if log := s.entries(s.ownLog()); log[len(log)-1].Status != "exhausted" {
				t.Errorf("%+v", log)
			}
		},
		"040_AuthError": func(t *testing.T, s *stage) {
			s.rehearse("401x*")
			r := s.belay(nil, []string{"-p", "say hi"})
			r.exits(78)
			r.is("auth", 1)
			s.asked(1)
		},
		"050_Timeout": func(t *testing.T, s *stage) {
			s.rehearse("hang x*")
			r := s.belay([]string{"--timeout", "12s"}, []string{"-p", "say hi"})
			r.exits(124)
			r.is("timeout", 1)
			s.asked(1)
		},
		"060_Backoff": func(t *testing.T, s *stage) {
			s.rehearse("500x*")
			s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.2", "CLAUDE_MAX_DELAY=0.5", "CLAUDE_JITTER_FACTOR=0"}
			r := s.belay(nil, []string{"-p", "say hi"})
			r.exits(75)
			r.is("server_error", 5)
			s.asked(5)
			var waits []string
			for _, e := range s.entries(s.ownLog()) {
				if e.WaitTime != nil {
					waits = append(waits, fmt.Sprintf("%g", *e.WaitTime))
				}
			}
			if got := strings.Join(waits, " "); !strings.HasPrefix(got, "0.2 0.4 0.5 0.5") {
				t.Errorf("it waited %s s", got)
			}
		},
		"070_Jitter": func(t *testing.T, s *stage) {
			s.rehearse("500x*")
			s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.5", "CLAUDE_MAX_DELAY=0.5", "CLAUDE_JITTER_FACTOR=0.2"}
			s.belay(nil, []string{"-p", "say hi"}).exits(75)
			different := map[float64]bool{}
			for _, e := range s.entries(s.ownLog())[:4] {
				different[*e.WaitTime] = true
				if math.Abs(*e.WaitTime-0.5) > 0.1001 {
					t.Errorf("it waited %v s", *e.WaitTime)
				}
			}
			if len(different) < 2 {
				t.Errorf("it always waited %v s", different)
			}
		},
		"080_Logging": func(t *testing.T, s *stage) {
			s.rehearse("500, 200")
			s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0", "CLAUDE_BASE_DELAY=0.1"}
			s.belay(nil, []string{"-p", "a secret prompt"}).exits(0)
			log := s.entries(s.ownLog())
			if len(log) != 2 || log[0].Status != "retry" || log[0].ErrorType == nil || *log[0].ErrorType != "server_error" || log[1].Status != "success" || log[1].Attempt != 2 {
				t.Fatalf("%+v", log)
			}
			sum := sha256.Sum256([]byte("a secret prompt"))
			for _, e := range log {
				if _, err := time.Parse(time.RFC3339, e.Timestamp); err != nil || e.PromptHash != hex.EncodeToString(sum[:]) || e.ResponseTime == nil || *e.ResponseTime <= 0 {
					t.Errorf("%v: %+v", err, e)
				}
			}
			for _, path := range []string{s.ownLog(), filepath.Join(s.dir, "state", "log.jsonl")} {
				info, err := os.Stat(path)
				if err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%v, %v", err, info)
				}
				if data, _ := os.ReadFile(path); strings.Contains(string(data), "secret prompt") {
					t.Errorf("the prompt is in %s", path)
				}
			}
		},
		"090_Environment": func(t *testing.T, s *stage) {
			s.rehearse("500x*")
			s.env = []string{"CLAUDE_MAX_RETRIES=2", "CLAUDE_BASE_DELAY=0.1"}
			s.belay(nil, []string{"-p", "say hi"}).exits(75)
			s.asked(2)
			for _, bad := range []string{"CLAUDE_MAX_RETRIES=0", "CLAUDE_MAX_RETRIES=many", "CLAUDE_BASE_DELAY=soon", "CLAUDE_JITTER_FACTOR=x"} {
				s.env = []string{bad}
				r := s.belay(nil, []string{"-p", "say hi"})
				r.exits(2)
				r.says(strings.SplitN(bad, "=", 2)[0])
			}
			s.asked(2)
		},
		"100_NothingElseStartsIt": func(t *testing.T, s *stage) {
			s.rehearse("hang")
			run := s.startBelay(nil, []string{"-p", "say hi"}, nil)
			s.eventually("it asks", func() bool { return s.requests() == 1 })
			for _, p := range s.left() {
				if strings.Contains(p.args, "stream-json") && !strings.Contains(p.args, "belay run") && parent(p.pid) != run.cmd.Process.Pid {
					t.Errorf("%v was started by %d, not by belay, %d", p, parent(p.pid), run.cmd.Process.Pid)
				}
			}
			run.cmd.Process.Signal(os.Interrupt)
			run.wait().exits(130)
		},
		"110_LogDir": func(t *testing.T, s *stage) {
			dir := filepath.Join(s.dir, "elsewhere")
			s.env = []string{"CLAUDE_LOG_DIR=" + dir}
			s.belay(nil, []string{"-p", "say hi"}).exits(0)
			if log := s.entries(filepath.Join(dir, "claude_invocations.jsonl")); len(log) != 1 {
				t.Errorf("%+v", log)
			}
			if s.has(".logs") {
				t.Error("there is a log in the working directory too")
			}
		},
		"120_NoShell": func(t *testing.T, s *stage) {
			prompt := "$(touch made) `touch made`; touch made & | > made \"quoted\" 'single' \\ * ~ $HOME\nline"
			s.belay(nil, []string{"-p", prompt}).exits(0)
			s.belay([]string{"--prompt", prompt}, []string{"-p"}).exits(0)
			s.asked(2)
			for _, q := range s.api.Main() {
				if texts := told(t, q); count(texts, prompt) != 1 {
					t.Errorf("it has become %q", texts)
				}
			}
			if s.has("made") {
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
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms", "--preset", "transport"}, []string{"-p", "say hi"})
		r.exits(0)
		if len(r.result.Errors) != r.result.Attempts-1 || r.result.Attempts < 2 {
			t.Errorf("%+v", r.result)
		}
		s.asked(3)
		gone := s.start(s.command("belay", "run", "--", "claude-is-not-installed", "-p", "hi"), nil).wait()
		gone.exits(127)
		s.asked(3)
	}, "2.0.77")
}

// TRNS-06: the session's id is captured, and a later call goes on with it; only if that call says so.
func TestTRNS06_Session(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		first := s.belay(nil, []string{"-p", "remember pear"})
		first.exits(0)
		if !isUUID(first.result.SessionID) || first.result.SessionID != s.api.Main()[0].Session && version != "2.0.77" {
			t.Errorf("session %q, the API has seen %q", first.result.SessionID, s.api.Main()[0].Session)
		}
		second := s.belay([]string{"--resume", first.result.SessionID}, []string{"-p", "and now?"})
		second.exits(0)
		if second.result.SessionID != first.result.SessionID {
			t.Errorf("session %s, want %s", second.result.SessionID, first.result.SessionID)
		}
		s.env = []string{"BELAY_RESUME=" + first.result.SessionID}
		third := s.belay(nil, []string{"-p", "who are you?"})
		if third.result != nil && third.result.SessionID == first.result.SessionID {
			t.Error("the environment has resumed a session")
		}
	})
}

// OUT-03: the result as text or JSON in place of claude's own output.
func TestOUT03_Format(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=1234, out=56)x*")
		object := s.start(s.command("belay", "run", "--output-format", "json", "--", "claude", "-p", "say hi"), nil).wait()
		object.exits(0)
		var r result
		if err := json.Unmarshal([]byte(object.stdout), &r); err != nil || !r.Success || r.Result != strings.TrimSuffix(answer, "\n") || r.Usage.Input != 1234 {
			t.Errorf("%v, %+v", err, r)
		}
		text := s.start(s.command("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi"), nil).wait()
		text.exits(0)
		for _, part := range []string{"Status: SUCCESS\n", answer, "Session: ", "Tokens: 1,234 input / 56 output\n", "Cost: $0.0", "Duration: ", "ms\n"} {
			if !strings.Contains(text.stdout, part) {
				t.Errorf("no %q in\n%s", part, text.stdout)
			}
		}
		s.rehearse("404x*")
		text = s.start(s.command("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi"), nil).wait()
		text.exits(1)
		if !strings.HasPrefix(text.stdout, "Status: FAILED\n") || !strings.Contains(text.stdout, "not_found") {
			t.Errorf("%s", text.stdout)
		}
		s.rehearse("200(text=`" + strings.Repeat("long ", 1000) + "`)")
		text = s.start(s.command("belay", "run", "--output-format", "text", "--", "claude", "-p", "say hi"), nil).wait()
		if !strings.Contains(text.stdout, "… (truncated)\n") {
			t.Errorf("%s", text.stdout)
		}
	})
}

// OUT-04: tokens and cost are those of all attempts; a call that never came to the model has none.
func TestOUT04_Usage(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "tool(bash: `true`, in=100, out=10), 500(x-should-retry=false), 200(in=200, out=20)")
		s.env = []string{"CLAUDE_CODE_MAX_RETRIES=0"}
		r := s.belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi", "--allowedTools", "Bash"})
		r.exits(0)
		r.is("", 2)
		r.used(300, 30)
		if r.result.Usage.Cost == nil || *r.result.Usage.Cost <= 0 {
			t.Errorf("cost %v", show(r.result.Usage.Cost))
		}
		once := s.belay(nil, []string{"-p", "--no-such-flag"})
		once.used(0, 0)
		if once.result.Usage.Cost != nil && *once.result.Usage.Cost != 0 {
			t.Errorf("cost %v", show(once.result.Usage.Cost))
		}
	}, "2.0.77")
}

// INTEG-04: a long prompt reaches claude by stdin: no limit of the system, nothing in the process table, no file left.
func TestINTEG04_LongPrompt(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(after=2s)x*")
		text := long(100_000)
		run := s.startBelay(nil, []string{"-p", text}, nil)
		s.eventually("it asks", func() bool { return s.requests() == 1 })
		for _, p := range s.left() {
			if strings.Contains(p.args, "BEGIN") && !strings.Contains(p.args, "belay run") {
				t.Errorf("the prompt is in the process table: %v", p)
			}
		}
		run.wait().exits(0)
		big := long(2_000_000)
		s.belay([]string{"--prompt-file", s.file("big.txt", big)}, []string{"-p"}).exits(0)
		for i, want := range []string{text, big} {
			if texts := told(t, s.api.Main()[i]); count(texts, want) != 1 {
				t.Errorf("prompt %d has not arrived", i+1)
			}
		}
		s.keepsNo("BEGIN ")
	})
}

// keepsNo checks that nothing in the state directory holds a text.
func (s *stage) keepsNo(text string) {
	s.t.Helper()
	for _, dir := range []string{"state", ".tmp"} {
		filepath.WalkDir(filepath.Join(s.dir, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.Contains(path, "claude-") {
				return nil
			}
			if data, _ := os.ReadFile(path); strings.Contains(string(data), text) {
				s.t.Errorf("%s holds the prompt", path)
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
			s.rehearse(c.script)
			r := s.belay(append([]string{"--reap"}, c.flags...), []string{"-p", "say hi", "--allowedTools", "Bash"})
			r.exits(c.code)
			r.is(c.class, 1)
			s.nobodyLeft()
			if runs, _ := filepath.Glob(filepath.Join(s.dir, "state", "runs", "*")); len(runs) > 0 {
				t.Errorf("%s: records are left: %v", c.script, runs)
			}
		}
	}, "2.0.77") // its Bash waits two minutes for what was left in the background
}
