package claude

import "github.com/belay-run/belay/internal/agent"

// Tested are the versions of claude that the tests install; a test of belay doctor holds them against each other.
var Tested = agent.Tested{"2.1.325", "2.1.197", "2.0.77"}

// Tested implements agent.Versioned.
func (p *Profile) Tested() agent.Tested { return Tested }
