package completion_test

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/profile"
)

// The profiles that come as data are read when one is asked for: not at the start of every command, to list the clients that its flags know.
func TestStart_ReadsNoProfile(t *testing.T) {
	commandtest.Place(t)
	read := 0
	defer profile.Ship(profile.Shipped(), profile.Ship([]string{"toyai"}, func(name string) *agent.Descriptor { read++; return &agent.Descriptor{Name: name} }))
	for _, line := range []string{"--version", "gates", "mcp install --help"} {
		if belay.Run(t.Context(), strings.Fields(line), nil, t.Output(), t.Output()); read > 0 {
			t.Fatalf("belay %s reads profiles", line)
		}
	}
	if belay.Run(t.Context(), []string{"hook", "status"}, nil, t.Output(), t.Output()); read == 0 {
		t.Error("belay hook status reads none, so that this test shows nothing")
	}
}
