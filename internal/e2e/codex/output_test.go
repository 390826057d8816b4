//go:build linux

package codex_test

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// forms are those in which codex prints.
var forms = map[string][]string{"text": nil, "json": {"--json"}}

// varies are values that differ from run to run.
var varies = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	regexp.MustCompile(`req_rehearsal[0-9]+`),
}

// alike is output without what differs from run to run.
func alike(text string) string {
	for _, v := range varies {
		text = v.ReplaceAllString(text, "…")
	}
	return text
}

// On success stdout is what the bare codex prints, byte for byte.
func TestOutput_AsBare(t *testing.T) {
	t.Parallel()
	for form, flags := range forms {
		t.Run(form, func(t *testing.T) {
			each(t, form == "json", func(t *testing.T, version string) {
				for name, script := range map[string]string{
					"tool":   `tool(bash: "echo made; exit 3", text="First, a tool."), 200(text="Ünïcode, \"quotes\" and\nlines.\n")`,
					"retry":  `reset, 500, 200`,
					"long":   "tool(bash: `head -c 900000 /dev/zero | tr '\\0' 'x'`), 200",
					"stream": `drop-mid, 200(text="")`,
				} {
					if name != "tool" && !full {
						continue
					}
					args := work(append(flags, "say hi")...)
					s := newStage(t, version, script)
					bare := s.Run("codex", args...)
					bare.Exits(0)
					n := s.Requests()
					s.Rehearse(script)
					r := s.Run("belay", append([]string{"run", "--", "codex"}, args...)...)
					r.Exits(0)
					s.Asked(n)
					if got, want := alike(r.Stdout), alike(bare.Stdout); got != want {
						t.Errorf("%s: belay run prints\n%s\nand codex\n%s", name, got, want)
					}
				}
			})
		})
	}
}

// So it is for a failure that nobody repeats, with the exit code.
func TestOutput_FailureAsBare(t *testing.T) {
	t.Parallel()
	for form, flags := range forms {
		t.Run(form, func(t *testing.T) {
			each(t, false, func(t *testing.T, version string) {
				for script, want := range map[string]int{"400x*": 1, "200(stop=max_output_tokens)x*": 1, "tool(bash: true), 400x*": 2} {
					if stage.UpTo(version, older) && strings.Contains(script, "stop") {
						continue // it tries that six times
					}
					args := work(append(flags, "say hi")...)
					s := newStage(t, version, script)
					bare := s.Run("codex", args...)
					s.Asked(want)
					s.Rehearse(script)
					r := s.Run("belay", append([]string{"run", "--", "codex"}, args...)...)
					r.Exits(bare.Code)
					s.Asked(want)
					if got, want := alike(r.Stdout), alike(bare.Stdout); got != want {
						t.Errorf("%s: belay run prints\n%s\nand codex\n%s", script, got, want)
					}
				}
			})
		})
	}
}

// A stream's events are seen while the API still answers.
func TestOutput_StreamIsLive(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo made", text="First, a tool."), 200(over=4s, text="a slow answer of quite a few words")`)
		run, stdout := s.StartPiped("belay", append([]string{"run", "--", "codex"}, work("--json", "say hi")...)...)
		out := bufio.NewScanner(stdout)
		out.Buffer(nil, 1<<20)
		var tool, last time.Time
		for out.Scan() {
			if !json.Valid(out.Bytes()) {
				t.Errorf("no event: %s", out.Text())
			}
			if tool.IsZero() && strings.Contains(out.Text(), `"command_execution"`) {
				tool = time.Now()
			}
			if strings.Contains(out.Text(), `"turn.completed"`) {
				last = time.Now()
			}
		}
		run.Wait().Exits(0)
		if tool.IsZero() || last.Sub(tool) < 2*time.Second {
			t.Errorf("from the tool to the end it took %v, and the answer alone 4 s", last.Sub(tool))
		}
		s.Asked(2)
	})
}

// Who reads no further ends it, and not by a panic.
func TestOutput_ReaderLeaves(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: sleep 1)x6, 200`)
		run, stdout := s.StartPiped("belay", append([]string{"run", "--", "codex"}, work("--json", "say hi")...)...)
		if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
			t.Error(err)
		}
		stdout.Close()
		run.Wait().Exits(141)
		s.NobodyLeft()
		if n := s.Requests(); n > 5 {
			t.Errorf("it went on to %d requests", n)
		}
	})
}

// --output-format puts belay's result in the place of codex's output.
func TestOutput_Result(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=1234, out=56)")
		r := s.Belay([]string{"--output-format", "json"}, ask("say hi"))
		r.Exits(0)
		var got stage.Result
		if err := json.Unmarshal([]byte(r.Stdout), &got); err != nil || got.Result+"\n" != answer || got.SessionID != r.Result.SessionID || got.Usage.Input != 1234 {
			t.Errorf("%v: %s", err, r.Stdout)
		}
		r = s.Belay([]string{"--output-format", "text"}, ask("--json", "say hi"))
		r.Exits(0)
		for _, want := range []string{"Status: SUCCESS\n", answer, "Session: " + r.Result.SessionID, "Tokens: "} {
			if !strings.Contains(r.Stdout, want) {
				t.Errorf("no %q in %s", want, r.Stdout)
			}
		}
		s.Asked(2)
	})
}

// Nothing of an attempt that failed before the model said anything is in the stream.
func TestOutput_NoTrace(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "overloaded-mid x2, 200")
		r := s.Belay(soon, ask("--json", "say hi"))
		r.Exits(0)
		r.Is("", 3)
		s.Asked(3)
		if strings.Count(r.Stdout, `"thread.started"`) != 1 || strings.Contains(r.Stdout, `"error"`) || !strings.Contains(r.Stdout, r.Result.SessionID) {
			t.Errorf("%s", r.Stdout)
		}
	})
}
