package cli

import (
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// causeText says why a run ended or was not begun, with the flags and commands that help. The engine knows neither.
func causeText(cause error) string {
	switch e := cause.(type) {
	case *engine.GateRefused:
		return message.GateRefused(e.Key, e.Refusal, true)
	case *engine.ScopeTaken:
		return message.ScopeTaken(e.Key, true)
	case *engine.MaxCostReached:
		switch {
		case e.Budget != "":
			return message.CostReached(e.Cost("budget "+e.Budget), "belay budget "+e.Budget)
		case e.Run != "":
			return message.CostReached(e.Cost("--max-cost of the run around it"), "")
		}
		return message.CostReached(e.Cost("--max-cost"), "")
	case *engine.RetriesSpent:
		return message.RetriesSpent(e.Key, true)
	case *engine.TooLate:
		switch {
		case e.Total:
			return message.TooLate(true, false, "--total-timeout")
		case e.NoWait:
			return message.TooLate(false, true, "--no-wait")
		}
		return message.TooLate(false, false, "--max-wait")
	case *engine.EffectUnknown:
		return message.EffectUnknown(e.Verifiable, e.Err, true)
	case *engine.NoSession:
		return message.NoSession(e.Profile, true)
	case *engine.StdinTimeout:
		return message.StdinTimeout(e.Command, e.Limit, "--no-stdin")
	case *engine.TooLong:
		return message.TooLong(e.Err, e.All)
	case *engine.InputRead:
		return message.InputRead(e.Command, "--replay-stdin")
	case *engine.OutputMatched:
		return message.OutputMatched(e.Code, "--fail-on")
	}
	return ""
}
