package gemini

import "github.com/belay-run/belay/internal/agent"

// Tested are the versions of gemini that the tests install; a test of belay doctor holds them against each other.
var Tested = agent.Tested{"0.61.0", "0.40.0"}

// Tested implements agent.Versioned.
func (p *Profile) Tested() agent.Tested { return Tested }
