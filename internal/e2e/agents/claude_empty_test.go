//go:build linux

package agents_test

import (
	"testing"
)

// With an option that Belay does not know no events can be seen, and still what a tool has done counts.
func TestClaude_EmptyPlain(t *testing.T) {
	claude.Each(t, true, func(t *testing.T, version string) {
		forms := map[string][]string{"text": {"--agent-color", "red"}}
		if full {
			forms["json"] = []string{"--agent-color", "red", "--output-format", "json"}
		}
		for form, flags := range forms {
			for name, nothing := range claude.nothings {
				if name != "none" && !full {
					continue
				}
				s := claude.New(t, version, "tool(bash: echo made >> made.txt), "+nothing+"x*")
				r := s.Belay([]string{"--verbose"}, claude.work(append(flags, "say hi")...))
				r.Exits(0)
				r.Is("", 1)
				s.Wrote("made.txt", "made\n")
				if form == "text" && name == "none" {
					r.Prints("\n")
				}
				r.Says("--agent-color")
			}
		}
	}, "2.0.77")
}

// A command of claude's own may have nothing to say.
func TestClaude_EmptyCommand(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		for _, command := range []string{"/compact", "/clear"} {
			s := claude.New(t, version, "200x*")
			s.Belay(nil, []string{"-p", "say hi"}).Exits(0)
			r := s.Belay(nil, []string{"-p", command, "--continue"})
			r.Exits(0)
			r.Is("", 1)
			r.Prints("\n")
		}
	}, "2.1.302")
}

// The text form ends in one newline, as claude's own does, wherever that comes from.
func TestClaude_TextEndsAsBare(t *testing.T) {
	claude.Each(t, true, func(t *testing.T, version string) {
		texts := []string{`a\n`}
		if full {
			texts = append(texts, `a`, `a\n\n`, `a\n `, `one\ntwo\n`)
		}
		for _, text := range texts {
			script := `200(text="` + text + `")`
			s := claude.New(t, version, script)
			bare := "a\n" // as claude alone has printed it in full
			if full {
				bare = s.Run("claude", "-p", "say hi").Stdout
				s.Rehearse(script)
			}
			r := s.Belay(nil, []string{"-p", "say hi"})
			r.Exits(0)
			r.Prints(bare)
		}
	})
}

// What claude is told by the API is not always printed: a wait that is longer than it is willing to wait. It is not asked
// again at once.
func TestClaude_ThrottledForLonger(t *testing.T) {
	claude.Each(t, true, func(t *testing.T, version string) {
		for _, long := range []string{"retry-after=7200", "retry-after=61", "x-should-retry=false"} {
			if long != "retry-after=7200" && !full {
				continue
			}
			s := claude.New(t, version, "429("+long+")x*")
			r := s.Belay([]string{"--max-wait", "50s"}, []string{"-p", "say hi"})
			r.Exits(75)
			r.Is("rate_limit", 1)
			r.Says(" hit a rate limit")
			s.Asked(1)
		}
	}, "2.0.77")
}
