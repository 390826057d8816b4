package engine

import (
	"fmt"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// Describe says in words why a gate refuses: see [message.GateState].
func Describe(r gate.Refusal) string { return message.GateState(r) }

// sentence says in one line how a command ended by itself.
func (c *call) sentence(o verdict.Outcome, code int, v verdict.Verdict) string {
	matched, evidence := "", v.Evidence
	if v.Rule == generic.FailOn { // else it would not be clear why an exit code of 0 is a failure
		matched = c.causeText(&OutputMatched{Code: code})
	}
	if evidence == fmt.Sprintf("exit %d", o.ExitCode) || evidence == "ended by "+o.Signal {
		evidence = ""
	}
	return message.Exited(c.command.name(), code, o.Signal, v.Class, matched, evidence)
}
