package setup

import (
	"fmt"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
)

// causeText says why a run ended or was not begun, with the flags and commands that help. The engine knows neither.
func causeText(s *config.Settings, cause error) string {
	switch e := cause.(type) {
	case *engine.NotAdmitted:
		return notAdmittedText(s, e)
	case *engine.TooLate:
		return tooLateText(s, e)
	case *engine.GaveUp:
		text := e.Error()
		if e.Took > 0 && e.Retries > 0 {
			text += fmt.Sprintf(" (--max-retries %d)", e.Retries)
		}
		return text
	case *belaytype.MaxCostReached:
		cost := message.Cost{What: "--max-cost", Spent: e.Spent, Limit: e.Limit, Window: e.Window, Unknown: e.Unknown, Until: e.Until}
		switch {
		case e.Budget != "":
			cost.What = "budget " + e.Budget
			return message.CostReached(cost, "belay budget "+e.Budget)
		case e.Run != "":
			cost.What = message.MaxCostFlag(true)
		}
		return message.CostReached(cost, "")
	case *belaytype.EffectUnknown:
		return message.EffectUnknown(e.Verifiable, e.Err, true)
	case *engine.WorkDone:
		return message.FallbackWorked(e.Command, "--fallback-after-work")
	case *belaytype.NoSession:
		return message.NoSession(e.Profile, true)
	case *belaytype.StdinTimeout:
		return message.StdinTimeout(e.Command, e.Limit, "--no-stdin")
	case *belaytype.TooLong:
		return message.TooLong(e.Err, e.All)
	case *belaytype.InputRead:
		return message.InputRead(e.Command, "--replay-stdin")
	case *engine.OutputMatched:
		return message.OutputMatched(e.Code, "--fail-on")
	}
	return ""
}

func notAdmittedText(s *config.Settings, e *engine.NotAdmitted) string {
	notWaiting := ""
	if e.Late != nil {
		notWaiting = tooLateText(s, e.Late)
	}
	switch cause := e.Cause.(type) {
	case *belaytype.GateRefused:
		return message.GateRefused(cause.Key, cause.Refusal, notWaiting, true)
	case *belaytype.ScopeTaken:
		return message.ScopeTaken(cause.Key, notWaiting, true)
	case *belaytype.RetriesSpent:
		return message.RetriesSpent(cause.Key, e.At, true)
	}
	return causeText(s, e.Cause)
}

// tooLateText names the flag that bounds a wait. Without retries there are no waits either.
func tooLateText(s *config.Settings, e *engine.TooLate) string {
	b := message.Bound{Flag: "--max-wait", Limit: e.Limit, At: e.At}
	switch {
	case e.Open:
		b = message.Bound{Flag: "--preset " + s.Preset}
	case e.Total:
		b.Flag = "--total-timeout"
	case e.Setting != "":
		b.Flag = e.Setting
	case e.Busy:
		b.Flag = "--on-busy fail"
	case e.NoWait && s.NoWait:
		b.Flag = "--no-wait"
	case e.NoWait:
		b.Flag = "--max-retries 0"
	}
	return message.NotWaiting(b)
}
