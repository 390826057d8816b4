//go:build linux

package agents_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

// What this claude does not take, another one does: it is claude's to say so, once. Every day a test of its rules (internal/agent/claude) has what it says.
func TestClaude_PromptTooLongForSome(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "200x*")
		text := strings.Repeat("word ", 11<<20/5)
		for _, run := range []func() *stage.Ran{
			func() *stage.Ran {
				return s.StartBelay(nil, []string{"-p", "sum this up"}, strings.NewReader(text)).Wait()
			},
			func() *stage.Ran { return s.StartBelay(nil, []string{"-p"}, strings.NewReader(text)).Wait() },
			func() *stage.Ran {
				return s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, []string{"-p"})
			},
		} {
			r := run()
			if stage.UpTo(version, "2.1.126") {
				r.Exits(0)
				r.Is("", 1)
				continue
			}
			r.Exits(1)
			r.Is("too_large", 1)
			r.Says("piped stdin input exceeds 10MB")
			s.Asked(0)
		}
	})
}

// A command that claude does not know: the newest asks the model, the one before says so with exit 0, the oldest says
// nothing at all.
func TestClaude_PromptUnknownCommand(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, "200")
		r := s.Belay(nil, []string{"-p", "/nosuchthing at all"})
		switch {
		case stage.UpTo(version, "2.0.77"):
			s.Asked(0)
		case stage.UpTo(version, "2.1.260"):
			r.Exits(1)
			r.Is("blocked", 1)
			s.Asked(0)
		default:
			r.Exits(0)
			s.Asked(1)
		}
	})
}

// --input-format stream-json is a conversation: it is passed through, without retries.
func TestClaude_PromptStreamInput(t *testing.T) {
	claude.Each(t, false, func(t *testing.T, version string) {
		s := claude.New(t, version, `200(text="one"), 200(text="two")`)
		var in bytes.Buffer
		for _, text := range []string{"first", "second"} {
			fmt.Fprintf(&in, `{"type":"user","message":{"role":"user","content":[{"type":"text","text":%q}]}}`+"\n", text)
		}
		r := s.StartBelay(nil, []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}, &in).Wait()
		r.Exits(0)
		if strings.Count(r.Stdout, `"type":"result"`) < 1 || !strings.Contains(r.Stdout, `"two"`) && !strings.Contains(r.Stdout, `"one"`) {
			t.Errorf("%s", r.Stdout)
		}
		if n := s.Requests(); n < 1 || n > 2 {
			t.Errorf("%d requests", n)
		}
	})
}

// In claude's own arguments a slash is a command; a prompt by --prompt is text.
func TestClaude_PromptCommand(t *testing.T) {
	claude.Each(t, true, func(t *testing.T, version string) {
		s := claude.New(t, version, "200")
		s.File(".claude/commands/probe.md", "This is the body of the probe command.")
		s.Belay([]string{"--prompt", "/probe it"}, []string{"-p"}).Exits(0)
		s.ToldOnce("/probe it")
		if texts := s.LastTold(); stage.Count(texts, "body of the probe") != 0 {
			t.Errorf("it has become %q", texts)
		}
		if !full {
			return // Belay changes no argument of claude's
		}
		s.Belay(nil, []string{"-p", "/probe it"}).Exits(0)
		s.Asked(2)
		s.ToldOnce("body of the probe command")
	})
}
