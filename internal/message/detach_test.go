package message_test

import (
	"errors"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/message"
)

// detachMessages are those of runs that are detached, or start later.
func detachMessages(say func(name, text string)) {
	at := time.Date(2000, 1, 1, 3, 0, 0, 0, time.UTC)
	say("CannotDetach", message.CannotDetach(errors.New("no space left on device")))
	say("Detached", message.Detached("1f0c9a3e"))
	say("DetachInterrupted", message.DetachInterrupted())
	say("StdinTooLargeToDetach", message.StdinTooLargeToDetach(64))
	say("LeftDetached", message.LeftDetached("1f0c9a3e"))
	say("AlreadyShown", message.AlreadyShown("1f0c9a3e"))
	say("NotDetached", message.NotDetached("1f0c9a3e", "claude"))
	say("DetachedIDs", message.AsIn(message.DetachedIDs()))
	say("OutputLost", message.OutputLost(4096, "no space left on device"))
	say("EndedState", message.EndedState(0))
	say("DetachedState", message.DetachedState(message.RunningState(1)))
	say("StartsAt", message.StartsAt("claude", at))
	say("StartsAt/the batch", message.StartsAt(message.TheBatch(), at))
	say("StartsWhenLifted", message.StartsWhenLifted("claude", "claude", gate.Refusal{Kind: gate.KindHold, Until: at, Reason: "usage_limit of claude"}))
	say("Start", message.Start("claude"))
	say("StartTime", message.StartTime())
	say("TheBatch", message.TheBatch())
	say("PrunedOutputs", message.PrunedOutputs(false, 2))
	say("PrunedOutputs/dry", message.PrunedOutputs(true, 1))
}
