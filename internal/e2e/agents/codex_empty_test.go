//go:build linux

package agents_test

import (
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// With an option that Belay does not know, nothing is seen but what codex prints for people.
func TestCodex_EmptyPlain(t *testing.T) {
	codex.Each(t, true, func(t *testing.T, version string) {
		run := func(s *stage.Stage, args []string) *stage.Ran {
			s.File("codex", "#!/bin/sh\n[ \"$2\" = --unheard-of ] || exit 99\nshift 2\nexec '"+s.Agent+"' exec \"$@\"\n")
			args = append([]string{"run", "--base-delay", "100ms", "--", "./codex", "exec", "--unheard-of"}, args[1:]...)
			return s.Run("belay", args...)
		}
		for name, nothing := range codex.nothings {
			if name != "an empty message" && !full {
				continue // every day TestEmpty_Answer has an answer with nothing in it
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := codex.New(t, version, nothing+"x*")
				r := run(s, codexAsk("say hi"))
				r.Exits(75)
				r.Says("gave no usable answer")
				if name == "none" || name == "a refusal's part" {
					s.Asked(2)
				} else { // the model has spoken, and its thread cannot go on
					r.Says("option --unheard-of")
					s.Asked(1)
				}

				s = codex.New(t, version, "tool(bash: echo x >> made), "+nothing)
				r = run(s, codexWork("say hi"))
				r.Exits(0)
				s.Wrote("made", "x\n")
				s.Asked(2)
			})
		}
	})
}
