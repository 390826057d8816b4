package cli

import (
	"fmt"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/term"
)

// causeText says why a run ended or was not begun, with the flags and commands that help. The engine knows neither.
func causeText(cause error) string {
	switch e := cause.(type) {
	case *engine.GateRefused:
		text := fmt.Sprintf("gate %s does not let it start (%s)", e.Key, engine.Describe(e.Refusal))
		if !e.Refusal.Until.IsZero() {
			text += fmt.Sprintf(" until %s", engine.When(e.Refusal.Until))
		}
		return text + fmt.Sprintf("; to lift it: %s; retry later", term.LiftCommand(e.Key))
	case *engine.ScopeTaken:
		return fmt.Sprintf("scope %s is taken by another run; see: belay ps; retry later", e.Key)
	case *engine.MaxCostReached:
		switch {
		case e.Budget != "":
			return fmt.Sprintf("%v; see: belay budget %s", e, e.Budget)
		case e.Run != "":
			return e.Sentence("--max-cost of the run around it")
		}
		return e.Sentence("--max-cost")
	case *engine.RetriesSpent:
		return fmt.Sprintf("the local retry budget is used up (gate %s; to fill it: %s)", e.Key, term.LiftCommand(e.Key))
	case *engine.TooLate:
		return tooLateText(e)
	case *engine.EffectUnknown:
		return effectText(e)
	case *engine.NoSession:
		return fmt.Sprintf("there is no session of %s on record for this directory; leave --resume out to begin one", e.Profile)
	case *engine.StdinTimeout:
		return fmt.Sprintf("%v; if there is none, say --no-stdin", cause)
	case *engine.TooLong:
		what := "it"
		if e.All {
			what = "the text"
		}
		return fmt.Sprintf("%v; pass %s by --prompt-file, --prompt - or in a file", cause, what)
	case *engine.InputRead:
		return fmt.Sprintf("%v; use --replay-stdin to keep it", cause)
	case *engine.OutputMatched:
		if e.Code == 0 {
			return "but its output matches --fail-on"
		}
		return "and its output matches --fail-on"
	}
	return ""
}

func tooLateText(e *engine.TooLate) string {
	switch {
	case e.Total:
		return "the next attempt would come too late for --total-timeout"
	case e.NoWait:
		return "the next attempt would have to wait, and --no-wait says not to"
	}
	return "the next attempt would come too late for --max-wait"
}

func effectText(e *engine.EffectUnknown) string {
	switch {
	case e.Err != nil:
		return fmt.Sprintf("%v, and --verify-effect could not find out (%v): check first, or use --retry-unsafe", engine.ErrMayBeDone, e.Err)
	case e.Verifiable:
		return fmt.Sprintf("%v: check first, or use --verify-effect or --retry-unsafe", engine.ErrMayBeDone)
	}
	return fmt.Sprintf("%v: check first, or use --retry-unsafe", engine.ErrMayBeDone)
}
