package profile_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
)

func TestIsSession(t *testing.T) {
	const id = agent.UUIDExample
	for _, name := range []string{"claude", "codex", "generic", "unknown"} {
		for id, want := range map[string]bool{id: true, strings.ToUpper(id): true, "": false, "last": false, id[1:]: false,
			strings.Replace(id, "-", "0", 1): false, strings.Replace(id, "0", "g", 1): false, id[:35] + "é": false} {
			if profile.IsSession(name, id) != want {
				t.Errorf("%s: %q", name, id)
			}
		}
		if !profile.IsSession(name, profile.SessionExample(name)) {
			t.Errorf("%s: %q is no example", name, profile.SessionExample(name))
		}
	}
}
