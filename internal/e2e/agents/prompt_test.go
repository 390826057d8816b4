//go:build linux

package agents_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
)

// arrived checks that the model was told that, once.
func (a *agent) arrived(r *stage.Ran, text string) {
	r.T.Helper()
	r.Exits(0)
	r.Is("", 1)
	r.Prints(answer)
	if texts := r.LastTold(); stage.Count(texts, text) != 1 || a == codex && (len(texts) != 1 || texts[0] != text) {
		r.T.Errorf("the prompt of %d bytes has not arrived: %d messages, %.200q", len(text), len(texts), texts)
	}
}

// refused checks that belay has started nothing, and said why in a line.
func (a *agent) refused(r *stage.Ran) {
	r.T.Helper()
	r.Exits(2)
	r.Is("too_large", 0)
	r.Prints("")
	r.Says(a.refusal...)
	if strings.Count(r.Stderr, "\n") != 1 {
		r.T.Errorf("more than a line: %s", r.Stderr)
	}
}

// Prompts of every size arrive whole, by every way. TestINTEG04_LongPrompts has long ones every day.
func TestPrompt_Sizes(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		for _, size := range a.sizes() {
			t.Run(size.name, func(t *testing.T) {
				t.Parallel()
				text := size.text
				s := a.New(t, version, "200")
				a.arrived(s.StartBelay(nil, a.ask(), strings.NewReader(text)).Wait(), text)
				a.arrived(s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, a.ask()), text)
				a.arrived(s.StartBelay([]string{"--prompt", "-"}, a.ask(), strings.NewReader(text)).Wait(), text)
				if a == codex {
					a.arrived(s.StartBelay(nil, a.ask("-"), strings.NewReader(text)).Wait(), text)
				}
				if len(text) < 131_000 { // the system takes no longer argument
					a.arrived(s.Belay(nil, a.ask(text)), text)
				}
			})
		}
	})
}

// What no version of the CLI would take is refused before anything starts.
func TestPrompt_TooLong(t *testing.T) {
	newest(t, func(t *testing.T, a *agent, s *stage.Stage) {
		if !clitest.OneOf(3, slices.Index(agents, a)+2) {
			t.Skip("tens of megabytes take long under the race detector")
		}
		text := a.text(a.tooLong)
		a.refused(s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, a.ask()))
		if full {
			a.refused(s.StartBelay(nil, a.ask("sum this up"), strings.NewReader(text)).Wait())
			a.refused(s.StartBelay(nil, a.ask(), strings.NewReader(text)).Wait())
		}
		s.Asked(0)
	})
}

// A prompt by --prompt is text, whatever it begins with.
func TestPrompt_Text(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200")
		prompts := []string{"-fix this", "--help"}
		if full {
			prompts = append(prompts, "/nosuchthing", "/review 12", "resume")
		}
		for _, prompt := range prompts {
			a.arrived(s.Belay([]string{"--prompt", prompt}, a.ask()), prompt)
		}
		s.Asked(len(prompts))
	})
}

// Piped input reaches the CLI beside its prompt, in every attempt.
func TestPrompt_PipedInput(t *testing.T) {
	each(t, true, func(t *testing.T, a *agent, version string) {
		told := func(s *stage.Stage) {
			t.Helper()
			for _, q := range s.API.Main() {
				texts := s.Told(q)
				if stage.Count(texts, "sum this up") != 1 || stage.Count(texts, "pears and plums") != 1 || a.beside != "" && (len(texts) != 1 || texts[0] != a.beside) {
					t.Errorf("it has become %q", texts)
				}
			}
		}
		if a != claude || !stage.UpTo(version, "2.0.77") {
			s, _ := a.givesUp(t, version, "", ", 200")
			r := s.StartBelay(soon, a.ask("sum this up"), strings.NewReader("pears and plums\n")).Wait()
			r.Exits(0)
			r.Is("", 2)
			s.Asked(2)
			told(s)
		}
		if !full {
			return
		}
		s := a.New(t, version, "200")
		r := s.StartBelay(nil, a.ask("sum this up"), strings.NewReader("pears and plums\n")).Wait()
		r.Exits(0)
		r.Is("", 1)
		s.Asked(1)
		told(s)
	})
}

// --no-stdin keeps a loop's input from being read.
func TestPrompt_NoStdin(t *testing.T) {
	each(t, false, func(t *testing.T, a *agent, version string) {
		s := a.New(t, version, "200")
		a.arrived(s.StartBelay([]string{"--no-stdin"}, a.ask("say hi"), strings.NewReader("the loop's next line\n")).Wait(), "say hi")
		if texts := s.LastTold(); stage.Count(texts, "the loop's next line") != 0 {
			t.Errorf("it has become %q", texts)
		}
	})
}
