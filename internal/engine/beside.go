package engine

import "time"

// looks are the pauses after which the CLI's own record is looked at when the model is about to be asked again: the CLI
// writes it a moment after its event.
var looks = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second, 3 * time.Second}

// lookInterval is how often it is looked at otherwise, and agentsInterval where sub-agents are counted that show there alone.
const lookInterval, agentsInterval = 10 * time.Second, time.Second

// lookLater looks at the CLI's own record, if it has one, after these pauses and from then on at intervals.
func (t *eventLog) lookLater(pauses []time.Duration) {
	if t.follower.Look == nil || t.closed {
		return
	}
	pause, rest := t.lookEvery, pauses
	if len(pauses) > 0 {
		pause, rest = min(pause, pauses[0]), pauses[1:]
	}
	if t.look != nil {
		t.look.Stop()
	}
	t.look = time.AfterFunc(pause, func() {
		t.reading.Lock()
		defer t.reading.Unlock()
		if t.closed {
			return
		}
		if info, ok := t.follower.Look(); ok {
			if info.Turn != nil { // else it says no more than that it is alive
				t.act(info)
			}
			t.beat()
		}
		t.lookLater(rest)
	})
}

// beat is a sign of life that does not show on the streams.
func (t *eventLog) beat() {
	t.mu.Lock()
	process, tools, waiting := t.process, t.tools, t.waiting
	t.mu.Unlock()
	if process != nil {
		process.SetStall(t.stallTimeout(tools, waiting))
	}
}

func (t *eventLog) exitCode(code int) int {
	if t.follower.ExitCode == nil {
		return code
	}
	return t.follower.ExitCode(code)
}
