package main

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
)

func TestMain(m *testing.M) { clitest.Main(m) }

// varying is what differs between two runs: times, durations (and whether the command has asked for just as much), ids.
var varying = regexp.MustCompile(`\d{1,2}(:\d\d)?[ap]m|(\d{4}-\d\d-\d\d )?\d\d:\d\d(:\d\d)?|` +
	`\d+(\.\d+)?m?s\b(,? as (it asks|requested))?|[0-9a-f]{8}-[0-9a-f-]{27}`)

// What the README and docs show below these commands is what they print.
func TestExamples_AreReal(t *testing.T) {
	t.Parallel()
	s := stage{bin: t.TempDir(), root: filepath.Join("..", "..")}
	for _, cli := range profile.All() {
		clitest.Find(t, cli, "")
	}
	if err := built.Into(s.bin, built.Belay); err != nil {
		t.Fatal(err)
	}
	for _, e := range examples {
		t.Run(e.commands[0], func(t *testing.T) {
			t.Parallel()
			document, err := os.ReadFile(filepath.Join(s.root, e.document))
			if err != nil {
				t.Fatal(err)
			}
			printed, err := s.run(e)
			if err != nil {
				t.Fatal(err)
			}
			renewed, err := replace(string(document), e.commands, printed)
			if err != nil {
				t.Fatal(err)
			}
			if varying.ReplaceAllString(renewed, "*") != varying.ReplaceAllString(string(document), "*") {
				t.Errorf("%s shows something else; run: make examples\n%q", e.document, printed)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	const before = "```\n$ a\nold\n$ b\n```\n$ b\nstays\n"
	got, err := replace(before, []string{"a", "b"}, []string{"new\n", "more\n"})
	if want := "```\n$ a\nnew\n$ b\nmore\n```\n$ b\nstays\n"; err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if _, err := replace(before, []string{"c"}, []string{"new\n"}); err == nil {
		t.Error("an example that is not there is not missed")
	}
}
