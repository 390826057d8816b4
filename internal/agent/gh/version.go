package gh

import "github.com/belay-run/belay/internal/agent"

// Tested are the versions of gh that the tests install; a test of belay doctor holds them against each other.
var Tested = agent.Tested{"2.100.0"}

// Tested implements agent.Versioned.
func (p *Profile) Tested() agent.Tested { return Tested }
