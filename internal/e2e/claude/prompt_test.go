//go:build linux

package claude_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/e2e/stage"
)

// long is a text of that many bytes with a beginning and an end. Most of its characters have three bytes: claude itself
// finds three million of one byte too many, before it asks anybody.
func long(size int) string {
	var b strings.Builder
	b.WriteString("BEGIN ")
	line := "请帮我看看这段很长的文字到底完整地到了没有"
	for i := 0; b.Len()+len(line)+30 < size; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, line)
	}
	b.WriteString(strings.Repeat(".", size-b.Len()-4))
	b.WriteString(" END")
	return b.String()
}

// Prompts of every size arrive whole, by every way.
func TestPrompt_Sizes(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		name  string
		bytes int
		quick bool
	}{{"10KB", 10_000, false}, {"200KB", 200_000, true}, {"3MB", 3_000_000, false}} {
		t.Run(size.name, func(t *testing.T) {
			each(t, size.quick, func(t *testing.T, version string) {
				text := long(size.bytes)
				s := newStage(t, version, "200")
				file := s.File("prompt.txt", text)
				arrived := func(r *stage.Ran) {
					t.Helper()
					r.Exits(0)
					r.Is("", 1)
					r.Prints(answer)
					last := s.API.Main()[s.Requests()-1]
					if texts := s.Told(last); stage.Count(texts, text) != 1 {
						t.Errorf("the prompt of %d bytes has not arrived: %d messages, the last of %d bytes", len(text), len(texts), len(last.LastMessage))
					}
				}
				arrived(s.Belay([]string{"--prompt-file", file}, []string{"-p"}))
				arrived(s.StartBelay(nil, []string{"-p"}, strings.NewReader(text)).Wait())
				if full {
					arrived(s.StartBelay([]string{"--prompt", "-"}, []string{"-p"}, strings.NewReader(text)).Wait())
				}
				if size.bytes < 131_000 { // the system takes no longer argument
					arrived(s.Belay(nil, []string{"-p", text}))
				}
			})
		})
	}
}

// What this claude does not take, another one does: it is claude's to say so, once.
func TestPrompt_TooLongForSome(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200x*")
		text := strings.Repeat("word ", 11<<20/5)
		runs := []func() *stage.Ran{
			func() *stage.Ran {
				return s.StartBelay(nil, []string{"-p", "sum this up"}, strings.NewReader(text)).Wait()
			},
		}
		if full {
			runs = append(runs,
				func() *stage.Ran { return s.StartBelay(nil, []string{"-p"}, strings.NewReader(text)).Wait() },
				func() *stage.Ran {
					return s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, []string{"-p"})
				})
		}
		for _, run := range runs {
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

// What no claude can send is refused before anything starts.
func TestPrompt_TooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	text := long(claude.MaxInput + 1)
	for _, r := range []*stage.Ran{
		s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, []string{"-p"}),
		s.StartBelay(nil, []string{"-p"}, strings.NewReader(text)).Wait(),
		s.StartBelay(nil, []string{"-p", "sum this up"}, strings.NewReader(text)).Wait(),
	} {
		r.Exits(2)
		r.Is("too_large", 0)
		r.Prints("")
		r.Says("33554432", "put the text in a file")
		if strings.Count(r.Stderr, "\n") != 1 {
			t.Errorf("more than a line: %s", r.Stderr)
		}
	}
	s.Asked(0)
}

// A prompt by --prompt is text, whatever it begins with; in claude's own arguments a slash is a command.
func TestPrompt_Text(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		s.File(".claude/commands/probe.md", "This is the body of the probe command.")
		for _, prompt := range []string{"-fix this", "--help", "/probe it", "/nosuchthing", "-"} {
			if prompt == "-" || version != "" && !full && prompt == "/nosuchthing" {
				continue
			}
			before := s.Requests()
			r := s.Belay([]string{"--prompt", prompt}, []string{"-p"})
			r.Exits(0)
			r.Prints(answer)
			if s.Requests() != before+1 {
				t.Errorf("%q: %d requests", prompt, s.Requests()-before)
				continue
			}
			texts := s.Told(s.API.Main()[before])
			if stage.Count(texts, prompt) != 1 || stage.Count(texts, "body of the probe") != 0 {
				t.Errorf("%q has become %q", prompt, texts)
			}
		}
		before := s.Requests()
		r := s.Belay(nil, []string{"-p", "/probe it"})
		r.Exits(0)
		if s.Requests() != before+1 {
			t.Fatalf("the command: %d requests", s.Requests()-before)
		}
		s.ToldOnce("body of the probe command")
	})
}

// A command that claude does not know: the newest asks the model, the one before says so with exit 0, the oldest says
// nothing at all.
func TestPrompt_UnknownCommand(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
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

// Piped input reaches claude beside its prompt, in every attempt.
func TestPrompt_PipedInput(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.StartBelay(nil, []string{"-p", "sum this up"}, strings.NewReader("pears and plums\n")).Wait()
		r.Exits(0)
		s.Asked(1)
		s.ToldOnce("sum this up", "pears and plums")
		if stage.UpTo(version, "2.0.77") {
			return
		}
		s.Rehearse("500(x-should-retry=false), 200")
		r = s.StartBelay([]string{"--base-delay", "100ms"}, []string{"-p", "sum this up"}, strings.NewReader("pears and plums\n")).Wait()
		r.Exits(0)
		r.Is("", 2)
		s.Asked(2)
		for _, q := range s.API.Main() {
			if texts := s.Told(q); stage.Count(texts, "sum this up") != 1 || stage.Count(texts, "pears and plums") != 1 {
				t.Errorf("it has become %q", texts)
			}
		}
	})
}

// --no-stdin keeps a loop's input from being read.
func TestPrompt_NoStdin(t *testing.T) {
	t.Parallel()
	stage.InFull(t)
	s := newStage(t, "", "200")
	in := strings.NewReader("the loop's next line\n")
	r := s.StartBelay([]string{"--no-stdin"}, []string{"-p", "say hi"}, in).Wait()
	r.Exits(0)
	if texts := s.LastTold(); stage.Count(texts, "the loop's next line") != 0 {
		t.Errorf("it has become %q", texts)
	}
}

// --input-format stream-json is a conversation: it is passed through, without retries.
func TestPrompt_StreamInput(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, `200(text="one"), 200(text="two")`)
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
