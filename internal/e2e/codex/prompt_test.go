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

	"github.com/belay-run/belay/internal/e2e/stage"
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
func arrived(r *stage.Ran, text string) {
	r.T.Helper()
	r.Exits(0)
	r.Is("", 1)
	r.Prints(answer)
	if texts := r.LastTold(); len(texts) != 1 || texts[0] != text {
		r.T.Errorf("the prompt of %d bytes has not arrived: %d messages, %.200q", len(text), len(texts), texts)
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
				arrived(s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, ask()), text)
				if full {
					arrived(s.StartBelay(nil, ask(), strings.NewReader(text)).Wait(), text)
					arrived(s.StartBelay(nil, ask("-"), strings.NewReader(text)).Wait(), text)
					arrived(s.StartBelay([]string{"--prompt", "-"}, ask(), strings.NewReader(text)).Wait(), text)
				}
				if full && len(text) < 131_000 { // the system takes no longer argument
					arrived(s.Belay(nil, ask(text)), text)
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
	for _, r := range []*stage.Ran{
		s.Belay([]string{"--prompt-file", s.File("prompt.txt", text)}, ask()),
		s.StartBelay(nil, ask(), strings.NewReader(text)).Wait(),
		s.StartBelay(nil, ask("sum this up"), strings.NewReader(text)).Wait(),
		s.StartBelay(nil, ask(), strings.NewReader(long(4*maxChars+1, true))).Wait(), // more bytes than so many characters can have
	} {
		r.Exits(2)
		r.Is("too_large", 0)
		r.Prints("")
		r.Says("codex takes", "file")
		if strings.Count(r.Stderr, "\n") != 1 {
			t.Errorf("more than a line: %s", r.Stderr)
		}
	}
	s.Asked(0)
}

// A prompt by --prompt is text, whatever it begins with.
func TestPrompt_Text(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		for _, prompt := range []string{"-fix this", "--help", "/review 12", "resume"} {
			arrived(s.Belay([]string{"--prompt", prompt}, ask()), prompt)
		}
		s.Asked(4)
	})
}

// Piped input reaches codex beside its prompt, in every attempt.
func TestPrompt_PipedInput(t *testing.T) {
	each(t, true, func(t *testing.T, version string) {
		s := newStage(t, version, "overloaded-mid, 200")
		r := s.StartBelay(soon, ask("sum this up"), strings.NewReader("pears and plums\n")).Wait()
		r.Exits(0)
		r.Is("", 2)
		s.Asked(2)
		for _, q := range s.API.Main() {
			if texts := s.Told(q); len(texts) != 1 || texts[0] != "sum this up\n\n<stdin>\npears and plums\n</stdin>" {
				t.Errorf("it has become %q", texts)
			}
		}
		if !full {
			return
		}
		s.Rehearse("200")
		r = s.StartBelay(nil, ask("sum this up"), strings.NewReader("pears and plums\n")).Wait()
		r.Exits(0)
		r.Is("", 1)
		s.ToldOnce("sum this up", "pears and plums")
		arrived(s.StartBelay([]string{"--no-stdin"}, ask("say hi"), strings.NewReader("the loop's next line\n")).Wait(), "say hi")
	})
}

// INTEG-04 of seed 003: long prompts, over 10 KB, come through without a limit of the system's, and no copy stays.
func TestINTEG04_LongPrompts(t *testing.T) {
	each(t, false, func(t *testing.T, version string) {
		s := newStage(t, version, "200")
		text := long(120_000, false)
		arrived(s.Belay(nil, ask(text)), text)
		many := long(900_000, false) // no system takes that as an argument
		arrived(s.Belay([]string{"--prompt-file", s.File("prompt.txt", many)}, ask()), many)
		// Nor does it stay where an attempt fails, or is stopped.
		s.Rehearse("400x*")
		s.Belay([]string{"--prompt-file", s.File("prompt.txt", many)}, ask()).Exits(1)
		s.Rehearse("hang")
		s.Belay([]string{"--prompt-file", s.File("prompt.txt", many), "--timeout", "15s"}, ask()).Exits(124)
		filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path, filepath.Join(s.Dir, "api")) || filepath.Base(path) == "prompt.txt" {
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
	stage.Codex.Play(t, []stage.Scenario{
		{Name: "Retried", Script: "overloaded-mid x2, 200", Flags: soon, Attempts: 3, Requests: 3, Stdout: answer},
		{Name: "NotRetried", Script: "400x*", Code: 1, Class: "invalid_request", Requests: 1},
		{Name: "PersonMustAct", Script: "401x*", Code: 78, Class: "auth", Requests: 1},
		{Name: "TryLater", Script: "429(retry-after=600)x*", Flags: []string{"--max-wait", "2s"}, Code: 75, Class: "rate_limit", Requests: 1},
		{Name: "TimedOut", Script: "tool(bash: `" + endless + "`), hang", Args: work("say hi"), Flags: []string{"--timeout", "20s"}, Code: 124, Class: "timeout", Requests: 2},
		{Name: "Silent", Script: "hang x*", Flags: []string{"--stall-timeout", "12s", "--base-delay", "100ms"}, Code: 124, Class: "stalled", Attempts: 2, Requests: 2},
		{Name: "WrongUse", Script: "200", Args: ask("--sandbox", "bogus", "say hi"), Code: 2, Class: "invalid_request"},
	})
	t.Run("Killed", func(t *testing.T) {
		each(t, false, func(t *testing.T, version string) {
			s := newStage(t, version, "tool(bash: `"+endless+"`)x*")
			run := s.StartBelay(nil, work("say hi"), nil)
			s.Eventually("the tool runs", func() bool { return s.Runs("sleep 299") && s.Runs("sleep 300") })
			if killCodex(s) == 0 {
				t.Fatalf("no codex among %v", s.Left())
			}
			r := run.Wait()
			r.Exits(137)
			r.Is("crash", 1)
			s.NobodyLeft()
			s.Asked(1)
		})
	})
}
