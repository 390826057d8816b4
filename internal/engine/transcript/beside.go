package transcript

import "time"

// recordLook is the next look at a CLI's own record.
type recordLook struct {
	timer *time.Timer // nil before the first
	every time.Duration
}

// later looks after the first of these pauses, and in any case after the usual one. The look is given the other pauses.
func (l *recordLook) later(pauses []time.Duration, look func(rest []time.Duration)) {
	pause, rest := l.every, pauses
	if len(pauses) > 0 {
		pause, rest = min(pause, pauses[0]), pauses[1:]
	}
	l.stop()
	l.timer = time.AfterFunc(pause, func() { look(rest) })
}

func (l *recordLook) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

// looks are the pauses after which the CLI's own record is looked at when the model is about to be asked again: the CLI
// writes it a moment after its event.
var looks = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second}

// lookInterval is how often it is looked at otherwise, and agentsInterval where sub-agents are counted that show there alone.
const lookInterval, agentsInterval = 10 * time.Second, time.Second
