//go:build linux

package agents_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// An empty answer is no answer: it is asked for again, once.
func TestEmpty_Answer(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		for name, nothing := range a.nothings {
			if !full && !slices.Contains(a.dailyNothings, name) {
				continue // the unit tests have them
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := a.New(t, version, nothing+"x"+strconv.Itoa(a.emptyRequests)+", 200")
				r := s.Belay(soon, a.ask("say hi"))
				r.Exits(0)
				r.Is("", 2)
				r.Prints(answer)
				s.Asked(a.emptyRequests + 1)
			})
		}
	}, after{claude, "2.1.173"}, after{gemini, geminiOld}) // which asks for more in the same run
}

// If it comes again, that is what there is to say.
func TestEmpty_Again(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		for form, flags := range a.forms {
			for name, nothing := range a.nothings {
				if name != "none" && form != "text" {
					continue
				}
				t.Run(form+"/"+name, func(t *testing.T) {
					t.Parallel()
					s := a.New(t, version, nothing+"x*")
					r := s.Belay(soon, a.ask(slices.Concat(flags, []string{"say hi"})...))
					r.Exits(75)
					attempts := 2
					if a == gemini && form == "json" && stage.UpTo(version, geminiOld) {
						attempts++ // it cannot be told the name of its session, and says so
					}
					r.Is("bad_output", attempts)
					if a == codex {
						s.Asked(2)
					}
					if form == "text" && strings.TrimSpace(r.Stdout) != "" {
						t.Errorf("it prints %q", r.Stdout)
					}
				})
			}
		}
	}, after{claude, "2.0.77"})
}

// What a tool has done counts, whether the model says something about it in the end or not.
func TestEmpty_AfterATool(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		for form, flags := range a.forms {
			for name, nothing := range a.nothings {
				if (name != "none" || form != "text" && a == claude) && !full {
					continue
				}
				t.Run(form+"/"+name, func(t *testing.T) {
					t.Parallel()
					s := a.New(t, version, "tool(bash: echo x >> made), "+nothing+"x*")
					r := s.Belay(nil, a.work(slices.Concat(flags, []string{"say hi"})...))
					r.Exits(0)
					r.Is("", 1)
					s.Wrote("made", "x\n")
					if a == codex {
						s.Asked(2)
					} else if form == "text" && name == "none" && a == claude {
						r.Prints("\n")
					}
				})
			}
		}
	}, after{claude, "2.0.77"}, after{gemini, geminiOld}) // which has to be started once more for json
}
