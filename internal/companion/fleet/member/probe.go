package member

import (
	"time"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/companion/fleet/merge"
)

// When the time of an open breaker is over, one call probes whether the service is back. It is over for all machines at the same moment, and belay run only looks at
// its own file. So each machine gets a slightly later time than the one before it: by then it has heard of the probe.

const (
	// probeStep is how much later: longer than two clocks may differ without being corrected, and a note takes.
	probeStep = 500 * time.Millisecond
	// probeSteps is for how many machines. All after them share the last step, so that none waits for long.
	probeSteps = 8
)

// ours is what was agreed upon, as the file of this machine has it.
func (g *gates) ours(agreed gate.State) gate.State {
	s := merge.Shifted(agreed, g.kept.ahead)
	if s.Breaker.Phase == breaker.Open && !s.Breaker.Until.IsZero() {
		s.Breaker.Until = s.Breaker.Until.Add(time.Duration(min(g.kept.before, probeSteps)) * probeStep)
	}
	return s
}
