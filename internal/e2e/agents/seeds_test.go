//go:build linux

package agents_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// The acceptance tests of the seeds that are not about one CLI, by the names they have there. TestSeed000 and
// TestINTEG01_Calls are beside this file; INTEG-02 and -06 are in internal/e2e/mcp, INTEG-03 in internal/e2e/hooks, and a hundred calls of INTEG-01 with a
// scripted CLI in the root.

// seed runs an acceptance test: every day with the newest version of each CLI, in full with all of them.
func seed(t *testing.T, test func(t *testing.T, a *agent, version string)) {
	t.Helper()
	each(t, true, test, after{claude, "2.0.77"}) // which asks again, whatever it is told, and waits for what was left in the background
}

// TRNS-05: limits and transient failures are repeated with back-off, what is wrong in itself is not.
func TestTRNS05_Retry(t *testing.T) {
	seed(t, func(t *testing.T, a *agent, version string) {
		s, _ := a.givesUp(t, version, "", ", reset, 200")
		r := s.Belay(append([]string{"--preset", "transport"}, soon...), a.ask("say hi"))
		r.Exits(0)
		if len(r.Result.Errors) != r.Result.Attempts-1 || r.Result.Attempts < 2 {
			t.Errorf("%+v", r.Result)
		}
		s.Asked(3)
		gone := s.Run("belay", "run", "--", a.Name+"-is-not-installed", "hi")
		gone.Exits(127)
		s.Asked(3)
	})
}

// TRNS-06: the session's id is captured, and a later call goes on with it, by the id or as the last one of the directory;
// only if that call says so. A CLI may count the tokens of the whole session; belay counts those of the call.
func TestTRNS06_Session(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `200(text="one", in=100, out=10), 200(text="two", in=100, out=10), 200(text="three", in=100, out=10)`)
		s.Env = []string{"BELAY_RESUME=" + a.noSession} // which resumes nothing: there is no such session
		first := s.Belay(nil, a.ask("remember pear"))
		first.Exits(0)
		first.Prints("one\n")
		id := first.Result.SessionID
		if told := s.API.Main()[0].Session; !a.IsSession(id) || id != told && !a.unnamed && !(a == claude && stage.UpTo(version, "2.0.77")) {
			t.Errorf("session %q, the API has seen %q", id, told)
		}
		second := s.Belay([]string{"--resume", id}, a.ask("and now?"))
		second.Exits(0)
		second.Prints("two\n")
		third := s.Belay([]string{"--resume", "last", "--prompt", "and then?"}, a.ask())
		third.Exits(0)
		third.Prints("three\n")
		s.Asked(3)
		s.ToldOnce("remember pear", "and now?", "and then?")
		for _, r := range []*stage.Ran{first, second, third} {
			if r.Result.SessionID != id || r.Result.Resumed != (r != first) {
				t.Errorf("session %s, resumed %v; want %s", r.Result.SessionID, r.Result.Resumed, id)
			}
			r.Used(100, 10)
			if cost := r.Result.Usage.Cost; (cost == nil) != (first.Result.Usage.Cost == nil) || cost != nil && *cost > *first.Result.Usage.Cost*1.5 {
				t.Errorf("each costs the same, but %s after %s", show(cost), show(first.Result.Usage.Cost))
			}
		}
	})
}

// OUT-03: the result as text or JSON in place of the CLI's own output, in whichever form that is.
func TestOUT03_Format(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		for name, test := range map[string]func(t *testing.T, s *stage.Stage){
			"JSON": func(t *testing.T, s *stage.Stage) {
				r := s.Belay([]string{"--output-format", "json"}, a.ask(slices.Concat(a.forms["json"], []string{"say hi"})...))
				r.Exits(0)
				var got stage.Result
				if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || !got.Success || got.Result+"\n" != answer || got.Usage.Input != 1234 || got.SessionID != r.Result.SessionID {
					t.Errorf("%v in %s", err, r.Stdout)
				}
			},
			"Text": func(t *testing.T, s *stage.Stage) {
				r := s.Belay([]string{"--output-format", "text"}, a.ask(a.events("say hi")...))
				r.Exits(0)
				parts := []string{"Status: SUCCESS\n", answer, "Session: " + r.Result.SessionID, "Tokens: 1,234 input / 56 output\n", "Duration: ", "ms\n"}
				if r.Result.Usage.Cost != nil {
					parts = append(parts, "Cost: $0.0")
				}
				for _, part := range parts {
					if !strings.Contains(r.Stdout, part) {
						t.Errorf("no %q in\n%s", part, r.Stdout)
					}
				}
			},
			"Failed": func(t *testing.T, s *stage.Stage) {
				s.Rehearse("404x*")
				r := s.Belay([]string{"--output-format", "text"}, a.ask("say hi"))
				r.Exits(1)
				if !strings.HasPrefix(r.Stdout, "Status: FAILED\n") || !strings.Contains(r.Stdout, "\nError: "+a.Name+" exited 1: ") {
					t.Errorf("%s", r.Stdout)
				}
			},
			"Truncated": func(t *testing.T, s *stage.Stage) {
				var long strings.Builder
				for i := range 1000 { // gemini takes what is said again and again for a loop
					fmt.Fprint(&long, i*i, " ")
				}
				s.Rehearse("200(text=`" + long.String() + "`)")
				r := s.Belay([]string{"--output-format", "text"}, a.ask("say hi"))
				r.Exits(0)
				if !strings.Contains(r.Stdout, "… (truncated)\n") {
					t.Errorf("%s", r.Stdout)
				}
			},
		} {
			if (name == "Failed" || name == "Truncated") && !full {
				continue // what belay prints is the same for all: text.txtar of cmd/belay and TestResult_Text of the root package have it
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(t, a.New(t, version, "200(in=1234, out=56)"))
			})
		}
	})
}

// OUT-04: tokens and cost are those of all attempts, also where one failed and the next went on with its session; a call
// that never came to the model has none.
func TestOUT04_Usage(t *testing.T) {
	seed(t, func(t *testing.T, a *agent, version string) {
		r := a.goesOn(t, version)
		if u := r.Result.Usage; u.Cost == nil || *u.Cost <= 0 || u.Estimated != (a != claude && a != opencode) { // which tell it themselves
			t.Errorf("cost %s, estimated %t", show(u.Cost), u.Estimated)
		}
		if a.everyDay != nil && !full {
			return // another start takes long
		}
		once := r.Belay(nil, a.ask("--no-such-flag"))
		once.Used(0, 0)
		if cost := once.Result.Usage.Cost; cost != nil && *cost != 0 {
			t.Errorf("cost %s", show(cost))
		}
	})
}

// INTEG-04: a long prompt reaches the CLI by stdin: no limit of the system, nothing in the process table, and no file is left
// of it, also where the attempt fails or is stopped.
func TestINTEG04_LongPrompts(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "hang, 200x*")
		text := a.text(100_000)
		run := s.StartBelay([]string{"--no-resume-on-retry"}, a.ask(text), nil)
		s.Eventually("it asks", func() bool { return s.Requests() == 1 })
		for _, p := range s.Left() {
			if strings.Contains(p.Args, "BEGIN") && !strings.Contains(p.Args, "belay run") {
				t.Errorf("the prompt is in the process table: %v", p)
			}
		}
		run.Signal(os.Interrupt)
		run.Wait().Exits(130)
		big := a.text(900_000)
		file := s.File("prompt.txt", big)
		a.arrived(s.Belay([]string{"--prompt-file", file}, a.ask()), big)
		if texts := s.Told(s.API.Main()[0]); stage.Count(texts, text) != 1 {
			t.Error("the first prompt has not arrived")
		}
		if full {
			a.arrived(s.Belay(nil, a.ask(text)), text)
			s.Rehearse("400x*")
			s.Belay([]string{"--prompt-file", file}, a.ask()).Exits(1)
			s.Rehearse("hang")
			s.Belay([]string{"--prompt-file", file, "--timeout", "30s"}, a.ask()).Exits(124)
		}
		keepsNo(s, "BEGIN ")
	})
}

// keepsNo checks that belay has left nothing that holds a text. The CLI keeps its own record, and the prompt's file is the
// caller's.
func keepsNo(s *stage.Stage, text string) {
	s.T.Helper()
	filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, filepath.Join(s.Dir, "api")) || filepath.Base(path) == "prompt.txt" || strings.Contains(path, "claude-") {
			return nil
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), text) {
			s.T.Errorf("%s holds the prompt", path)
		}
		return nil
	})
}

// INTEG-05: a CLI that fails, hangs or is killed is dealt with and cleaned up after: retried if that can help, told apart
// by its class and exit code. It leaves no process and no record behind.
func TestINTEG05_SubprocessErrors(t *testing.T) {
	const behind = "nohup setsid tail -f /dev/null >/dev/null 2>&1 & "
	seed(t, func(t *testing.T, a *agent, version string) {
		step, _ := a.gaveUp(version)
		for _, tt := range []struct {
			name     string
			quick    bool
			script   string
			flags    []string
			code     int
			class    string
			attempts int
		}{
			{"LeavesBehind", true, "tool(bash: `" + behind + "true`), 200", nil, 0, "", 1},
			{"Fails", false, "tool(bash: `" + behind + "exit 1`), 404x*", nil, 1, "not_found", 1},
			{"Retried", false, step + ", 200", soon, 0, "", 2},
			{"NotRetried", false, "400x*", nil, 1, "invalid_request", 1},
			{"PersonMustAct", false, "403x*", nil, 78, "auth", 1},
			{"TryLater", false, "429(retry-after=600)x*", []string{"--max-wait", "2s"}, 75, "rate_limit", 1},
			{"Silent", false, "hang x*", append([]string{"--stall-timeout", "30s"}, soon...), 124, "stalled", 2},
		} {
			// codex, which starts fast, has failures that are told apart every day: one by what it was asked, one that passes. TestScenario has one that a person must act on.
			daily := a == codex && (tt.name == "NotRetried" || tt.name == "TryLater")
			if !tt.quick && !daily && !full {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				s := a.New(t, version, tt.script)
				if tt.name == "Retried" {
					s.Env = a.once
				}
				r := s.Belay(append([]string{"--reap"}, tt.flags...), a.work("say hi"))
				r.Exits(tt.code)
				r.Is(tt.class, tt.attempts)
				leavesNothing(s)
			})
		}
		t.Run("Killed", func(t *testing.T) {
			if a != codex {
				stage.InFull(t)
			}
			t.Parallel()
			s := a.New(t, version, endless+", hang x*")
			run := s.StartBelay(nil, a.work("say hi"), nil)
			s.Eventually("the tool runs", func() bool { return endlessRuns(s) })
			for _, p := range started(run) {
				p.Kill()
			}
			r := run.Wait()
			r.Exits(137)
			r.Is("crash", 1)
			leavesNothing(s)
		})
	})
}

// And so it is where its time is over.
func TestINTEG05_TimedOut(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		inTime(a.toolRequests, func(limit time.Duration) *stage.Stage {
			s := a.New(t, version, endless+", hang x*")
			r := s.Belay([]string{"--timeout", limit.String()}, a.work("say hi"))
			r.Exits(124)
			r.Is("timeout", 1)
			r.Says(a.Name + " exceeded its timeout (" + fmt.Sprint(limit.Seconds()) + " s) and was terminated")
			leavesNothing(s)
			return s
		})
	})
}

// inTime plays what a time limit ends, after that many requests. Where the limit was over before the CLI had got so far, as on a busy
// machine, it is doubled.
func inTime(requests int, play func(limit time.Duration) *stage.Stage) {
	for limit := 30 * time.Second; ; limit *= 2 {
		s := play(limit)
		if s.Requests() >= requests || limit >= 4*time.Minute {
			s.Asked(requests)
			return
		}
	}
}

// leavesNothing checks that no process is left, and no record of one.
func leavesNothing(s *stage.Stage) {
	s.T.Helper()
	s.NobodyLeft()
	if runs, _ := filepath.Glob(filepath.Join(s.State, "runs", "*")); len(runs) > 0 {
		s.T.Errorf("records are left: %v", runs)
	}
}
