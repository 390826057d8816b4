package demo

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/rehearse"
)

func TestWords(t *testing.T) {
	if got := splitCommand(`run --gate x -- ask "a b" c`); !slices.Equal(got, []string{"run", "--gate", "x", "--", "ask", "a b", "c"}) {
		t.Errorf("%q", got)
	}
}

// The demo's script is one.
func TestDemo_Script(t *testing.T) {
	if _, err := rehearse.Parse(script); err != nil {
		t.Error(err)
	}
}
