//go:build linux

package claude_test

import (
	"bufio"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// forms are those in which claude prints.
var forms = map[string][]string{
	"text":        nil,
	"json":        {"--output-format", "json"},
	"stream-json": {"--output-format", "stream-json", "--verbose"},
}

// varies are values that differ from run to run.
var varies = []*regexp.Regexp{
	regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`),
	regexp.MustCompile(`"(duration_ms|duration_api_ms|ttft_ms|ttft_stream_ms|time_to_request_ms|first_content_frame_ms|time_origin_ms|timestamp|durationMs)":("[^"]*"|[0-9.]+)`),
	regexp.MustCompile(`(msg|req|toolu)_rehearsal[0-9]+`),
	regexp.MustCompile(`127\.0\.0\.1:[0-9]+`),
	regexp.MustCompile(`"messaging_socket_path":"[^"]*"`),
}

// variesOldest are more such values of 2.0.77, which warms up and asks a small model beside its work.
var variesOldest = []*regexp.Regexp{
	regexp.MustCompile(`"total_cost_usd":[0-9.e-]+`),
	regexp.MustCompile(`"modelUsage":\{("[^"]*":\{[^}]*\},?)*\}`),
	regexp.MustCompile(`"stop_reason":("[a-z_]*"|null)`),
}

// alike is output without what differs from run to run.
func alike(s *stage.Stage, text string) string {
	all := varies
	if stage.UpTo(s.Version, "2.0.77") {
		all = append(slices.Clone(all), variesOldest...)
	}
	for _, v := range all {
		text = v.ReplaceAllString(text, "…")
	}
	return text
}

// On success stdout is what the bare claude prints, byte for byte.
func TestOutput_AsBare(t *testing.T) {
	t.Parallel()
	for form, flags := range forms {
		t.Run(form, func(t *testing.T) {
			each(t, form != "text", func(t *testing.T, version string) {
				script := `tool(bash: "echo made", text="First, a tool."), 200(text="Ünïcode, \"quotes\" and\nlines.")`
				args := append([]string{"-p", "say hi", "--allowedTools", "Bash"}, flags...)
				s := newStage(t, version, script)
				bare := s.Run("claude", args...)
				bare.Exits(0)
				s.Rehearse(script)
				r := s.Run("belay", append([]string{"run", "--", "claude"}, args...)...)
				r.Exits(0)
				s.Asked(2)
				if got, want := alike(s, r.Stdout), alike(s, bare.Stdout); got != want {
					t.Errorf("belay run prints\n%s\nand claude\n%s", got, want)
				}
				if got, want := alike(s, r.Stderr), alike(s, bare.Stderr); got != want {
					t.Errorf("on stderr belay run prints\n%s\nand claude\n%s", got, want)
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
				for name, more := range map[string][]string{
					"404x*":              nil,
					"400x*":              nil,
					`tool(bash: true)x*`: {"--max-turns", "2", "--allowedTools", "Bash"},
				} {
					args := append(append([]string{"-p", "say hi"}, flags...), more...)
					s := newStage(t, version, name)
					bare := s.Run("claude", args...)
					n := s.Requests()
					s.Rehearse(name)
					r := s.Run("belay", append([]string{"run", "--", "claude"}, args...)...)
					r.Exits(max(bare.Code, 1)) // a lying 0 becomes 1
					s.Asked(n)
					if got, want := alike(s, r.Stdout), alike(s, bare.Stdout); got != want {
						t.Errorf("%s: belay run prints\n%s\nand claude\n%s", name, got, want)
					}
				}
			})
		})
	}
}

// Partial messages are the caller's only if he asks for them.
func TestOutput_PartialMessages(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		args := []string{"-p", "say hi", "--output-format", "stream-json", "--verbose"}
		r := s.Belay(nil, args)
		r.Exits(0)
		if strings.Contains(r.Stdout, `"stream_event"`) {
			t.Errorf("%s", r.Stdout)
		}
		r = s.Belay(nil, append(args, "--include-partial-messages"))
		r.Exits(0)
		if !strings.Contains(r.Stdout, `"stream_event"`) || !strings.Contains(r.Stdout, `"text_delta"`) {
			t.Errorf("%s", r.Stdout)
		}
	})
}

// json --verbose is an array of all events.
func TestOutput_JSONVerbose(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200(in=100, out=7)")
		r := s.Belay(nil, []string{"-p", "say hi", "--output-format", "json", "--verbose"})
		r.Exits(0)
		r.Is("", 1)
		r.Used(100, 7)
		var all []map[string]any
		if err := json.Unmarshal([]byte(r.Stdout), &all); err != nil || len(all) < 3 {
			t.Errorf("%v in %s", err, r.Stdout)
		}
	})
}

// A stream's events are seen while the API still answers.
func TestOutput_StreamIsLive(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: "echo made", text="First, a tool."), 200(over=6s, text="a slow answer of quite a few words")`)
		run, stdout := s.StartPiped("belay", "run", "--", "claude", "-p", "say hi", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose")
		out := bufio.NewScanner(stdout)
		out.Buffer(nil, 1<<20)
		var first, last time.Time
		tool := false
		for out.Scan() {
			line := out.Text()
			if !json.Valid(out.Bytes()) {
				t.Errorf("no event: %s", line)
			}
			if first.IsZero() {
				first = time.Now()
			}
			if strings.Contains(line, `"tool_result"`) {
				tool = true
				if s.Requests() == 2 && s.API.Main()[1].End == "whole" {
					t.Error("the tool's result is seen only after the end of the answer")
				}
			}
			last = time.Now()
		}
		run.Wait().Exits(0)
		if !tool || last.Sub(first) < 3*time.Second {
			t.Errorf("events came within %v, the answer took 6 s", last.Sub(first))
		}
		s.Asked(2)
	})
}

// Who reads no further ends it: claude alone would go on spending.
func TestOutput_ReaderLeaves(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, `tool(bash: echo made)x6, 200`)
		run, stdout := s.StartPiped("belay", "run", "--", "claude", "-p", "say hi", "--allowedTools", "Bash", "--output-format", "stream-json", "--verbose")
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
