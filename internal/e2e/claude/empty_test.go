//go:build linux

package claude_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// empty is an answer of the API with nothing in it. Versions from 2.1.185 on ask once more for one that can be seen.
const empty = "200(content-type=text/event-stream, body=`" + `event: message_start
data: {"type":"message_start","message":{"id":"msg_empty","type":"message","role":"assistant","model":"claude-opus-5-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":10,"output_tokens":1}}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

` + "`)"

var nothings = map[string]string{
	"none":    empty,
	"newline": `200(text="\n")`,
	"blank":   `200(text="  \n \n")`,
}

// An empty answer is no answer: it is asked for again, once.
func TestEmpty_Answer(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		for name, nothing := range nothings {
			if name != "none" && !full {
				continue // the unit tests have them
			}
			s := newStage(t, version, nothing+"x2, 200")
			r := s.Belay([]string{"--base-delay", "100ms"}, []string{"-p", "say hi"})
			r.Exits(0)
			r.Is("", 2)
			r.Prints(answer)
			s.Asked(3)
		}
	}, "2.1.173")
}

// If it comes again, that is what there is to say.
func TestEmpty_Again(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		for form, flags := range forms {
			for name, nothing := range nothings {
				if name != "none" && form != "text" {
					continue
				}
				s := newStage(t, version, nothing+"x*")
				r := s.Belay([]string{"--base-delay", "100ms"}, append([]string{"-p", "say hi"}, flags...))
				r.Exits(75)
				r.Is("bad_output", 2)
				if form == "text" && strings.TrimSpace(r.Stdout) != "" {
					t.Errorf("%s prints %q", name, r.Stdout)
				}
			}
		}
	}, "2.0.77")
}

// What a tool has done counts, whether the model says something about it in the end or not. The last of them has an option
// that Belay does not know, so that no events can be seen.
func TestEmpty_AfterATool(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		more := map[string][]string{"text": nil, "plain": {"--agent-color", "red"}}
		if full {
			more["json"], more["stream-json"] = forms["json"], forms["stream-json"]
			more["plain json"] = []string{"--agent-color", "red", "--output-format", "json"}
		}
		for name, flags := range more {
			for kind, nothing := range nothings {
				if kind != "none" && !full {
					continue
				}
				s := newStage(t, version, "tool(bash: echo made >> made.txt), "+nothing+"x*")
				r := s.Belay([]string{"--verbose"}, append([]string{"-p", "say hi", "--allowedTools", "Bash"}, flags...))
				r.Exits(0)
				r.Is("", 1)
				s.Wrote("made.txt", "made\n")
				if kind == "none" && (name == "text" || name == "plain") {
					r.Prints("\n")
				}
				if strings.HasPrefix(name, "plain") {
					r.Says("--agent-color")
				}
			}
		}
	}, "2.0.77")
}

// A command of claude's own may have nothing to say.
func TestEmpty_LocalCommand(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		for _, command := range []string{"/compact", "/clear"} {
			s := newStage(t, version, "200x*")
			s.Belay(nil, []string{"-p", "say hi"}).Exits(0)
			r := s.Belay(nil, []string{"-p", command, "--continue"})
			r.Exits(0)
			r.Is("", 1)
			r.Prints("\n")
		}
	}, "2.1.302")
}

// The text form ends in one newline, as claude's own does, wherever that comes from.
func TestOutput_TextEndsAsBare(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		texts := []string{`a\n`}
		if full {
			texts = append(texts, `a`, `a\n\n`, `a\n `, `one\ntwo\n`)
		}
		for _, text := range texts {
			script := `200(text="` + text + `")`
			s := newStage(t, version, script)
			bare := s.Run("claude", "-p", "say hi")
			s.Rehearse(script)
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(0)
			r.Prints(bare.Stdout)
		}
	})
}

// What claude is told by the API is not always printed: a wait that it does not heed. It is not asked again at once.
func TestThrottled_ForLongerThanItHeeds(t *testing.T) {
	stage.Claude.Each(t, true, func(t *testing.T, version string) {
		for _, long := range []string{"retry-after=7200", "retry-after=61", "x-should-retry=false"} {
			if long != "retry-after=7200" && !full {
				continue
			}
			s := newStage(t, version, "429("+long+")x*")
			r := s.Belay([]string{"--max-wait", "50s"}, []string{"-p", "say hi"})
			r.Exits(75)
			r.Is("rate_limit", 1)
			r.Says("not before ")
			s.Asked(1)
		}
	}, "2.0.77")
}
