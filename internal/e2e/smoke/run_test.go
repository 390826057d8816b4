package smoke_test

import (
	"encoding/json"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	s := newScene(t)
	got := s.belay("--version")
	s.want(got, 0, "*")
	if !strings.Contains(got.stdout, runtime.GOOS+"/"+runtime.GOARCH) {
		t.Error(got.stdout)
	}
}

func TestRun(t *testing.T) {
	s := newScene(t)
	s.want(s.run(nil, "print", "hello"), 0, "hello")
	s.want(s.run(nil, "exit", "7"), 7, "")
	s.want(s.run([]string{"--max-retries", "1", "--base-delay", "0"}, "exit", "9"), 9, "")
	s.want(s.belay("run", "--", "no-such-command"), 127, "")
	s.want(s.belay("run", "--no-such-flag", "--", self), 2, "")
}

func TestRun_Stdin(t *testing.T) {
	s := newScene(t)
	s.want(s.start(strings.NewReader("words\n"), runLine(nil, "cat")...).wait(), 0, "words\n")
	s.want(s.start(strings.NewReader("words\n"), runLine([]string{"--replay-stdin", "--max-retries", "1"}, "cat")...).wait(), 0, "words\n")
	s.want(s.run([]string{"--prompt", "words"}, "cat"), 0, "words")
}

// All that a command has written comes through, though it ends at once.
func TestRun_MuchOutput(t *testing.T) {
	s := newScene(t)
	const n = 50_000
	want := strings.Repeat(muchLine, n)
	s.want(s.run(nil, "much", "50000"), 0, want)
	s.want(s.run([]string{"--max-retries", "1"}, "much", "50000"), 0, want)
	s.want(s.run([]string{"--stream", "--stall-timeout", "1m"}, "much", "50000"), 0, want)
}

// arguments are such as prompts have.
var arguments = []string{"", " ", "two words", `"quoted"`, `a "b" c`, `back\slash\`, `trailing slash and space \`, `\\server\share\"x"`, "50%", "%PATH%", "!PATH!",
	"a&b", "a|b", "<a>", "^caret^", "(a)", "a;b,c=d", "'single'", "`back`", "$HOME", "*", "?", "~", "-x", "--", "/?", "Umlaut ä", "日本", "tab\there"}

func TestRun_Arguments(t *testing.T) {
	s := newScene(t)
	for _, flags := range [][]string{nil, {"--max-retries", "1"}} {
		got := s.run(flags, append([]string{"args", "several\nlines\n"}, arguments...)...)
		s.want(got, 0, "*")
		var list []string
		if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || !slices.Equal(list, append([]string{"several\nlines\n"}, arguments...)) {
			t.Errorf("%q, %v", list, err)
		}
	}
}

func TestRetries(t *testing.T) {
	s := newScene(t)
	file := filepath.Join(s.dir, "attempts")
	s.want(s.run([]string{"--max-retries", "3", "--base-delay", "0"}, "attempt", file, "3"), 0, "attempt 3")
	log := lines[struct {
		Attempts int `json:"attempts"`
	}](s, "log", "--json")
	if len(log) != 1 || log[0].Attempts != 3 {
		t.Errorf("%+v", log)
	}
}

// The result is Belay's own where that is asked for.
func TestRun_Result(t *testing.T) {
	s := newScene(t)
	got := s.run([]string{"--output-format", "json"}, "print", "hello")
	s.want(got, 0, "*")
	var result struct {
		Success bool   `json:"success"`
		Result  string `json:"result"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &result); err != nil || !result.Success || result.Result != "hello" {
		t.Errorf("%v: %s", err, got.stdout)
	}
}
