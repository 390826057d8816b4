//go:build linux

package codex_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxChars is the most that codex takes.
const maxChars = 1 << 20

// long is a text of that many characters, all of them or none of one byte, with a beginning and an end.
func long(chars int, wide bool) string {
	line := "the quick brown fox jumps over the lazy dog"
	if wide {
		line = "请帮我看看这段很长的文字到底完整地到了没有"
	}
	var b strings.Builder
	b.WriteString("BEGIN ")
	n := 6
	for i := 0; ; i++ {
		next := fmt.Sprintf("%d %s\n", i, line)
		if size := utf8.RuneCountInString(next); n+size+4 <= chars {
			b.WriteString(next)
			n += size
			continue
		}
		return b.String() + strings.Repeat(".", chars-n-4) + " END"
	}
}

// arrived checks that the model was told exactly that, once.
func (r *ran) arrived(text string) {
	r.t.Helper()
	r.exits(0)
	r.is("", 1)
	r.prints(answer)
	if texts := r.lastTold(); len(texts) != 1 || texts[0] != text {
		r.t.Errorf("the prompt of %d bytes has not arrived: %d messages, %.200q", len(text), len(texts), texts)
	}
}

// Prompts of every size arrive whole, by every way.
func TestPrompt_Sizes(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		name  string
		chars int
		wide  bool
		quick bool
	}{{"10KB", 10_000, false, false}, {"200KB", 200_000, false, true}, {"ManyBytes", 600_000, true, false}, {"Most", maxChars, false, false}} {
		t.Run(size.name, func(t *testing.T) {
			each(t, size.quick, func(t *testing.T, version string) {
				text := long(size.chars, size.wide)
				s := newStage(t, version, "200")
				s.belay([]string{"--prompt-file", s.file("prompt.txt", text)}, ask()).arrived(text)
				if full {
					s.startBelay(nil, ask(), strings.NewReader(text)).wait().arrived(text)
					s.startBelay(nil, ask("-"), strings.NewReader(text)).wait().arrived(text)
					s.startBelay([]string{"--prompt", "-"}, ask(), strings.NewReader(text)).wait().arrived(text)
				}
				if full && len(text) < 131_000 { // the system takes no longer argument
					s.belay(nil, ask(text)).arrived(text)
				}
			})
		})
	}
}

// What codex would not take is refused before anything starts.
func TestPrompt_TooLong(t *testing.T) {
	t.Parallel()
	s := newStage(t, "", "200")
	text := long(maxChars+1, false)
	for _, r := range []*ran{
		s.belay([]string{"--prompt-file", s.file("prompt.txt", text)}, ask()),
		s.startBelay(nil, ask(), strings.NewReader(text)).wait(),
		s.startBelay(nil, ask("sum this up"), strings.NewReader(text)).wait(),
		s.startBelay(nil, ask(), strings.NewReader(long(4*maxChars+1, true))).wait(), // more bytes than so many characters can have
	} {
		r.exits(2)
		r.is("too_large", 0)
		r.prints("")
		r.says("codex takes", "file")
		if strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("more than a line: %s", r.stderr)
		}
	}
	s.asked(0)
}

// A prompt by --prompt is text, whatever it begins with.
func TestPrompt_Text(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		for _, prompt := range []string{"-fix this", "--help", "/review 12", "resume"} {
			s.belay([]string{"--prompt", prompt}, ask()).arrived(prompt)
		}
		s.asked(4)
	})
}

// Piped input reaches codex beside its prompt, in every attempt.
func TestPrompt_PipedInput(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "overloaded-mid, 200")
		r := s.startBelay(soon, ask("sum this up"), strings.NewReader("pears and plums\n")).wait()
		r.exits(0)
		r.is("", 2)
		s.asked(2)
		for _, q := range s.api.Main() {
			if texts := told(t, q); len(texts) != 1 || texts[0] != "sum this up\n\n<stdin>\npears and plums\n</stdin>" {
				t.Errorf("it has become %q", texts)
			}
		}
		if !full {
			return
		}
		s.rehearse("200")
		r = s.startBelay(nil, ask("sum this up"), strings.NewReader("pears and plums\n")).wait()
		r.exits(0)
		r.is("", 1)
		once(t, s.lastTold(), "sum this up", "pears and plums")
		s.startBelay([]string{"--no-stdin"}, ask("say hi"), strings.NewReader("the loop's next line\n")).wait().arrived("say hi")
	})
}

// INTEG-04 of seed 003: long prompts, over 10 KB, come through without a limit of the system's, and no copy stays.
func TestINTEG04_LongPrompts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		text := long(120_000, false)
		s.belay(nil, ask(text)).arrived(text)
		many := long(900_000, false) // no system takes that as an argument
		s.belay([]string{"--prompt-file", s.file("prompt.txt", many)}, ask()).arrived(many)
		// Nor does it stay where an attempt fails, or is stopped.
		s.rehearse("400x*")
		s.belay([]string{"--prompt-file", s.file("prompt.txt", many)}, ask()).exits(1)
		s.rehearse("hang")
		s.belay([]string{"--prompt-file", s.file("prompt.txt", many), "--timeout", "15s"}, ask()).exits(124)
		filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path, filepath.Join(s.dir, "api")) || filepath.Base(path) == "prompt.txt" {
				return nil // codex keeps its own record, the prompt's file is the caller's
			}
			if data, err := os.ReadFile(path); err == nil && strings.Contains(string(data), "the quick brown fox") {
				t.Errorf("%s holds the prompt", path)
			}
			return nil
		})
	})
}

// INTEG-05 of seed 003: a codex that fails, hangs or is killed is dealt with and cleaned up after: retried if that can help,
// ended when its time is over, told apart by its exit code.
func TestINTEG05_SubprocessErrors(t *testing.T) {
	t.Parallel()
	for _, sc := range []scenario{
		{name: "Retried", script: "overloaded-mid x2, 200", flags: soon, attempts: 3, requests: 3, stdout: answer},
		{name: "NotRetried", script: "400x*", code: 1, class: "invalid_request", requests: 1},
		{name: "PersonMustAct", script: "401x*", code: 78, class: "auth", requests: 1, late: true},
		{name: "TryLater", script: "429(retry-after=600)x*", flags: []string{"--max-wait", "2s"}, code: 75, class: "rate_limit", requests: 1, older: &scenario{attempts: 1}},
		{name: "TimedOut", script: "tool(bash: `" + endless + "`), hang", args: work("say hi"), flags: []string{"--timeout", "20s"}, code: 124, class: "timeout", requests: 2},
		{name: "Silent", script: "hang x*", flags: []string{"--stall-timeout", "12s", "--base-delay", "100ms"}, code: 124, class: "stalled", attempts: 2, requests: 2},
		{name: "WrongUse", script: "200", args: ask("--sandbox", "bogus", "say hi"), code: 2, class: "invalid_request"},
	} {
		t.Run(sc.name, func(t *testing.T) {
			each(t, false, func(t *testing.T, version string) { sc.play(t, version) })
		})
	}
	t.Run("Killed", func(t *testing.T) {
		each(t, false, func(t *testing.T, version string) {
			s := newStage(t, version, "tool(bash: `"+endless+"`)x*")
			run := s.startBelay(nil, work("say hi"), nil)
			s.eventually("the tool runs", func() bool { return s.runs("sleep 299") && s.runs("sleep 300") })
			if s.killCodex() == 0 {
				t.Fatalf("no codex among %v", s.left())
			}
			r := run.wait()
			r.exits(137)
			r.is("crash", 1)
			s.nobodyLeft()
			s.asked(1)
		})
	})
}
