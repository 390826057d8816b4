package opencode

import "github.com/belay-run/belay/internal/agent"

// Tested are the versions of opencode that the tests install; a test of belay doctor holds them against each other.
var Tested = agent.Tested{"1.18.33", "1.18.14"}

// Tested implements agent.Versioned.
func (p *Profile) Tested() agent.Tested { return Tested }
