package transcript

import "time"

// recordLook is the next look at a CLI's own record.
type recordLook struct {
	timer *time.Timer // nil before the first
	every time.Duration
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

// lookLater looks at the CLI's own record, if it has one, after these pauses and from then on at intervals.
func (t *EventLog) lookLater(pauses []time.Duration) {
	if t.Follower.Look == nil || t.closed {
		return
	}
	pause, rest := t.look.every, pauses
	if len(pauses) > 0 {
		pause, rest = min(pause, pauses[0]), pauses[1:]
	}
	t.look.stop()
	t.look.timer = time.AfterFunc(pause, func() {
		t.reading.Lock()
		defer t.reading.Unlock()
		if t.closed {
			return
		}
		if info, ok := t.Follower.Look(); ok {
			if info.Turn != nil { // else it says no more than that it is alive
				t.act(info)
			}
			t.beat()
		}
		t.lookLater(rest)
	})
}
