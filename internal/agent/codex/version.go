package codex

import "github.com/belay-run/belay/internal/agent"

// Tested are the versions of codex that the tests install; a test of belay doctor holds them against each other.
var Tested = agent.Tested{"0.166.0", "0.150.1"}

// Tested implements agent.Versioned.
func (p *Profile) Tested() agent.Tested { return Tested }
