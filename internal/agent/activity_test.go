package agent_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
)

func TestToolArgument(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"ls","description":"List"}`: "ls",
		`{"pattern":"x","path":"src"}`:          "x",
		`{"command":["ls"],"path":"src"}`:       "src", // another type than expected
		`{"description":"Look around"}`:         "Look around",
		`{"x":1}`:                               "",
		`{`:                                     "",
		`[]`:                                    "",
		``:                                      "",
	} {
		if got := agent.ToolArgument([]byte(input)); got != want {
			t.Errorf("%s: %q, want %q", input, got, want)
		}
	}
}

// A cut never leaves a part of a word, which may be a part of a secret.
func TestShortArgument(t *testing.T) {
	long := strings.Repeat("word ", 400) + strings.Repeat("s", 100) + " more"
	if got := agent.ShortArgument(long); got != strings.TrimSuffix(strings.Repeat("word ", 400), " ") {
		t.Errorf("%q", got)
	}
	if got := agent.ShortArgument(strings.Repeat("x", 5000)); got != "" {
		t.Errorf("%q", got)
	}
}
