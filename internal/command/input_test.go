package command

import (
	"testing"

	"github.com/belay-run/belay/internal/profile"
)

// A prompt that a CLI takes is never refused for its size.
func TestMaxPrompt_IsMoreThanAnyCLITakes(t *testing.T) {
	for _, d := range profile.All() {
		if d.MaxInput > MaxPrompt {
			t.Errorf("%s takes %d bytes, belay at most %d", d.Name, d.MaxInput, MaxPrompt)
		}
	}
}
