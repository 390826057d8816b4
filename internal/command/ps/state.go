package ps

import (
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// stateKilled is the state of a run whose belay was killed and of which processes are left.
const stateKilled = supervise.StateKilled

// stateOf says what a run does now.
func stateOf(r supervise.Record) string {
	if r.State == stateKilled {
		if len(r.Left) == 0 { // its record could not be dealt with
			return stateKilled
		}
		return message.KilledState(command.ProcNames(r.Left))
	}
	return overview.RunState(r)
}

// runStyle is the style of that.
func runStyle(r supervise.Record) term.Style {
	switch r.State {
	case stateKilled:
		return term.Bad
	case supervise.StateWaiting:
		return term.Warning
	}
	return term.Good
}
