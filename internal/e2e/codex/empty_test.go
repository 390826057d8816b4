//go:build linux

package codex_test

import (
	"fmt"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// answering is an answer of the API with these items in it.
func answering(items string) string {
	return "200(content-type=text/event-stream, body=`" + fmt.Sprintf(`event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","object":"response","status":"in_progress","model":"m","output":[]}}

%sevent: response.completed
data: {"type":"response.completed","sequence_number":9,"response":{"id":"resp_1","object":"response","status":"completed","model":"m","output":[],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":0},"output_tokens":5,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":15}}}

`, items) + "`)"
}

func message(content string) string {
	return fmt.Sprintf(`event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[%s]}}

`, content)
}

// nothings are answers without an answer.
var nothings = map[string]string{
	"no message":        answering(""),
	"an empty message":  answering(message(`{"type":"output_text","text":"","annotations":[]}`)),
	"a blank message":   answering(message(`{"type":"output_text","text":"\n","annotations":[]}`)),
	"a refusal's part":  answering(message(`{"type":"refusal","refusal":"I cannot help with that."}`)),
	"nothing in a part": answering(message("")),
}

// An empty answer is no answer: it is asked for again, once.
func TestEmpty_Answer(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		for name, nothing := range nothings {
			if !full && (name == "a blank message" || name == "nothing in a part") {
				continue
			}
			s := newStage(t, version, nothing+", 200")
			r := s.Belay(soon, ask("say hi"))
			if r.Exits(0); r.Result.Attempts != 2 {
				t.Error(name)
			}
			r.Is("", 2)
			r.Prints(answer)
			s.Asked(2)
		}
	})
}

// If it comes again, that is what there is to say.
func TestEmpty_Again(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		for name, nothing := range nothings {
			for _, args := range [][]string{ask("say hi"), ask("--json", "say hi")} {
				if name != "no message" && args[2] == "--json" {
					continue
				}
				s := newStage(t, version, nothing+"x*")
				r := s.Belay(soon, args)
				if r.Exits(75); r.Result.ErrorType != "bad_output" {
					t.Error(name)
				}
				r.Is("bad_output", 2)
				s.Asked(2)
			}
		}
	})
}

// What a tool has done counts, whether the model says something about it in the end or not.
func TestEmpty_AfterATool(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		for name, nothing := range nothings {
			if name != "no message" && !full {
				continue
			}
			for _, args := range [][]string{work("say hi"), work("--json", "say hi")} {
				s := newStage(t, version, "tool(bash: echo x >> made), "+nothing)
				r := s.Belay(nil, args)
				r.Exits(0)
				r.Is("", 1)
				s.Wrote("made", "x\n")
				s.Asked(2)
			}
		}
	})
}

// With an option that Belay does not know, nothing is seen but what codex prints for people.
func TestEmpty_Plain(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		run := func(s *stage.Stage, args []string) *stage.Ran {
			s.File("codex", "#!/bin/sh\n[ \"$2\" = --unheard-of ] || exit 99\nshift 2\nexec '"+s.Agent+"' exec \"$@\"\n")
			args = append([]string{"run", "--base-delay", "100ms", "--", "./codex", "exec", "--unheard-of"}, args[1:]...)
			return s.Run("belay", args...)
		}
		for name, nothing := range nothings {
			if name != "no message" && name != "an empty message" && !full {
				continue
			}
			s := newStage(t, version, nothing+"x*")
			r := run(s, ask("say hi"))
			r.Exits(75)
			r.Says("bad_output")
			if name == "no message" || name == "a refusal's part" {
				s.Asked(2)
			} else { // the model has spoken, and its thread cannot go on
				r.Says("--unheard-of is not known to belay")
				s.Asked(1)
			}

			s = newStage(t, version, "tool(bash: echo x >> made), "+nothing)
			r = run(s, work("say hi"))
			r.Exits(0)
			s.Wrote("made", "x\n")
			s.Asked(2)
		}
	})
}
