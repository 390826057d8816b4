//go:build linux

package agents_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// asBare runs a command line without belay and with it, each against the script from its begin, and compares what they
// print. It returns both.
func (a *agent) asBare(s *stage.Stage, script string, args []string) (bare, r *stage.Ran) {
	s.T.Helper()
	s.Rehearse(script)
	bare = s.Run(a.Name, args...)
	n := s.Requests()
	s.Rehearse(script)
	r = s.Run("belay", append([]string{"run", "--", a.Name}, args...)...)
	s.Asked(n)
	if got, want := a.alike(s, r.Stdout), a.alike(s, bare.Stdout); got != want {
		s.T.Errorf("%.100s: belay run prints\n%s\nand %s\n%s", script, got, a.Name, want)
	}
	return bare, r
}

// On success stdout is what the bare CLI prints, byte for byte.
func TestOutput_AsBare(t *testing.T) {
	t.Parallel()
	scripts := map[string]string{
		"Tool":  `tool(bash: "echo made; exit 3", text="First, a tool."), 200(text="Ünïcode, \"quotes\" and\nlines.")`,
		"Retry": "reset, 500, 200",
	}
	for name, script := range scripts {
		t.Run(name, func(t *testing.T) {
			each(t, name == "Tool", func(t *testing.T, a *agent, version string) {
				for form, flags := range a.forms {
					if form != a.stream && !full {
						continue // TestOUT03_Format reads the others every day
					}
					t.Run(form, func(t *testing.T) {
						t.Parallel()
						s := a.New(t, version, "200")
						bare, r := a.asBare(s, script, a.work(slices.Concat(flags, []string{"say hi"})...))
						bare.Exits(0)
						r.Exits(0)
						if got, want := a.alike(s, r.Stderr), a.alike(s, bare.Stderr); a != codex && (a != opencode || form == a.stream) && name == "Tool" && got != want {
							t.Errorf("on stderr belay run prints\n%s\nand %s\n%s", got, a.Name, want)
						}
					})
				}
			})
		})
	}
}

// So it is for a failure that nothing repeats, with the exit code.
func TestOutput_FailureAsBare(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		for form, flags := range a.forms {
			for name, f := range a.failures {
				if f.after != "" && stage.UpTo(version, f.after) {
					continue
				}
				t.Run(form+"/"+name, func(t *testing.T) {
					t.Parallel()
					bare, r := a.asBare(a.New(t, version, "200"), f.script, a.work(slices.Concat(flags, f.args, []string{"say hi"})...))
					r.Exits(max(bare.Code, 1)) // a 0 that is not true becomes 1
				})
			}
		}
	})
}

// A stream's events are seen while the API has not answered yet.
func TestOutput_StreamIsLive(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `tool(bash: "echo made", text="First, a tool."), hang`)
		run, stdout := s.StartPiped("belay", append([]string{"run", "--", a.Name}, a.work(a.events("say hi")...)...)...)
		seen := false
		out := bufio.NewScanner(stdout)
		out.Buffer(nil, 1<<20)
		for out.Scan() {
			if !json.Valid(out.Bytes()) {
				t.Errorf("no event: %s", out.Text())
			}
			if !seen && strings.Contains(out.Text(), a.toolEvent) {
				seen = true
				run.Signal(os.Interrupt) // the API would never answer
			}
		}
		r := run.Wait()
		r.Exits(130)
		if !seen {
			t.Errorf("the tool was not seen in %s", r.Stdout)
		}
	})
}

// A reader that leaves ends the run, and not by a panic: a CLI alone might go on spending.
func TestOutput_ReaderLeaves(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, `tool(bash: "for i in 1 2; do sleep 0.5; done")x6, 200`)
		run, stdout := s.StartPiped("belay", append([]string{"run", "--", a.Name}, a.work(a.events("say hi")...)...)...)
		if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Error(err)
		}
		stdout.Close()
		run.Wait().Exits(141)
		s.NobodyLeft()
		if n := s.Requests(); n > 6 {
			t.Errorf("it went on to %d requests", n)
		}
	})
}

// Nothing of an attempt that failed before the model said anything is in the stream.
func TestOutput_NoTrace(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s, _ := a.givesUp(t, version, "", " x2, 200")
		r := s.Belay(soon, a.ask(a.events("say hi")...))
		r.Exits(0)
		r.Is("", 3)
		s.Asked(3)
		if strings.Count(r.Stdout, a.begins) != 1 || strings.Contains(r.Stdout, a.fails) || !strings.Contains(r.Stdout, r.Result.SessionID) {
			t.Errorf("session %s\n%s", r.Result.SessionID, r.Stdout)
		}
	}, after{claude, "2.0.77"})
}

// A retry goes on in the same stream: every event is there once, the failure that was got over is not, and there is one
// result.
func TestOutput_StreamOverARetry(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s, _ := a.givesUp(t, version, `tool(bash: "echo x >> made", in=100, out=10)`, ", 200(in=200, out=20)")
		r := s.Belay(soon, a.work(a.events("say hi")...))
		r.Exits(0)
		r.Is("", 2)
		r.Used(300, 30)
		s.Asked(3)
		s.Wrote("made", "x\n")
		kinds := map[string]int{}
		for line := range strings.Lines(r.Stdout) {
			var e struct {
				Type    string
				IsError bool `json:"is_error"`
				Item    struct{ Type string }
			}
			if err := json.Unmarshal([]byte(line), &e); err != nil {
				t.Fatalf("%v in %s", err, line)
			}
			kinds[strings.TrimSpace(e.Type+" "+e.Item.Type)]++
			if e.IsError {
				t.Errorf("a failure that was got over: %s", line)
			}
		}
		for kind, n := range a.resumed {
			if kinds[kind] != n {
				t.Errorf("%d events %s, want %d", kinds[kind], kind, n)
			}
		}
		if strings.Contains(r.Stdout, a.fails) {
			t.Errorf("there is %s in\n%s", a.fails, r.Stdout)
		}
	}, after{claude, "2.0.77"})
}

// What is not a run without a person is started as it is.
func TestNotHeadless(t *testing.T) {
	newest(t, func(t *testing.T, a *agent, s *stage.Stage) {
		r := s.Run("belay", "run", "--", a.Name, "--version")
		bare := s.Run(a.Name, "--version")
		r.Exits(0)
		r.Prints(bare.Stdout)
		s.Asked(0)
	})
}
