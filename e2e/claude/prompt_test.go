//go:build linux

package claude_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/belay-run/belay/agent/claude"
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
				file := s.file("prompt.txt", text)
				arrived := func(r *ran) {
					t.Helper()
					r.exits(0)
					r.is("", 1)
					r.prints(answer)
					last := s.api.Main()[s.requests()-1]
					if texts := told(t, last); count(texts, text) != 1 {
						t.Errorf("the prompt of %d bytes has not arrived: %d messages, the last of %d bytes", len(text), len(texts), len(last.LastMessage))
					}
				}
				arrived(s.belay([]string{"--prompt-file", file}, []string{"-p"}))
				arrived(s.startBelay(nil, []string{"-p"}, strings.NewReader(text)).wait())
				if full {
					arrived(s.startBelay([]string{"--prompt", "-"}, []string{"-p"}, strings.NewReader(text)).wait())
				}
				if size.bytes < 131_000 { // the system takes no longer argument
					arrived(s.belay(nil, []string{"-p", text}))
				}
			})
		})
	}
}

// What claude would not take is refused before anything starts.
func TestPrompt_TooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	text := long(claude.MaxInput + 1)
	for _, r := range []*ran{
		s.belay([]string{"--prompt-file", s.file("prompt.txt", text)}, []string{"-p"}),
		s.startBelay(nil, []string{"-p"}, strings.NewReader(text)).wait(),
		s.startBelay(nil, []string{"-p", "sum this up"}, strings.NewReader(text)).wait(),
	} {
		r.exits(2)
		r.is("too_large", 0)
		r.prints("")
		r.says("10485760", "put the text in a file")
		if strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("more than a line: %s", r.stderr)
		}
	}
	s.asked(0)
}

// A prompt by --prompt is text, whatever it begins with; in claude's own arguments a slash is a command.
func TestPrompt_Text(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		s.file(".claude/commands/probe.md", "This is the body of the probe command.")
		for _, prompt := range []string{"-fix this", "--help", "/probe it", "/nosuchthing", "-"} {
			if prompt == "-" || version != "" && !full && prompt == "/nosuchthing" {
				continue
			}
			before := s.requests()
			r := s.belay([]string{"--prompt", prompt}, []string{"-p"})
			r.exits(0)
			r.prints(answer)
			if s.requests() != before+1 {
				t.Errorf("%q: %d requests", prompt, s.requests()-before)
				continue
			}
			texts := told(t, s.api.Main()[before])
			if count(texts, prompt) != 1 || count(texts, "body of the probe") != 0 {
				t.Errorf("%q has become %q", prompt, texts)
			}
		}
		before := s.requests()
		r := s.belay(nil, []string{"-p", "/probe it"})
		r.exits(0)
		if s.requests() != before+1 {
			t.Fatalf("the command: %d requests", s.requests()-before)
		}
		if texts := told(t, s.api.Main()[before]); count(texts, "body of the probe command") != 1 {
			t.Errorf("the command has become %q", texts)
		}
	})
}

// A command that claude does not know: the newest asks the model, the one before says so with exit 0, the oldest says
// nothing at all.
func TestPrompt_UnknownCommand(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.belay(nil, []string{"-p", "/nosuchthing at all"})
		switch version {
		case "2.1.197":
			r.exits(1)
			r.is("blocked", 1)
			s.asked(0)
		case "2.0.77":
			s.asked(0)
		default:
			r.exits(0)
			s.asked(1)
		}
	})
}

// Piped input reaches claude beside its prompt, in every attempt.
func TestPrompt_PipedInput(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		r := s.startBelay(nil, []string{"-p", "sum this up"}, strings.NewReader("pears and plums\n")).wait()
		r.exits(0)
		s.asked(1)
		texts := told(t, s.api.Main()[0])
		if count(texts, "sum this up") != 1 || count(texts, "pears and plums") != 1 {
			t.Errorf("it has become %q", texts)
		}
		if version == "2.0.77" {
			return
		}
		s.rehearse("500(x-should-retry=false), 200")
		r = s.startBelay([]string{"--base-delay", "100ms"}, []string{"-p", "sum this up"}, strings.NewReader("pears and plums\n")).wait()
		r.exits(0)
		r.is("", 2)
		s.asked(2)
		for _, q := range s.api.Main() {
			if texts := told(t, q); count(texts, "sum this up") != 1 || count(texts, "pears and plums") != 1 {
				t.Errorf("it has become %q", texts)
			}
		}
	})
}

// --no-stdin keeps a loop's input from being read.
func TestPrompt_NoStdin(t *testing.T) {
	t.Parallel()
	if !full {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	s := newStage(t, "", "200")
	in := strings.NewReader("the loop's next line\n")
	r := s.startBelay([]string{"--no-stdin"}, []string{"-p", "say hi"}, in).wait()
	r.exits(0)
	if texts := told(t, s.api.Main()[0]); count(texts, "the loop's next line") != 0 {
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
		r := s.startBelay(nil, []string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}, &in).wait()
		r.exits(0)
		if strings.Count(r.stdout, `"type":"result"`) < 1 || !strings.Contains(r.stdout, `"two"`) && !strings.Contains(r.stdout, `"one"`) {
			t.Errorf("%s", r.stdout)
		}
		if n := s.requests(); n < 1 || n > 2 {
			t.Errorf("%d requests", n)
		}
	})
}
