package engine

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/verdict"
)

// When says a time to come as a person would: the time of day, and the day if that is not today.
func When(t time.Time) string {
	t, now := t.Local(), time.Now()
	if t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04:05 MST")
	}
	return t.Format("2006-01-02 15:04 MST")
}

// Describe says in words why a gate refuses.
func Describe(r gate.Refusal) string {
	text := map[gate.Kind]string{
		gate.KindHold:      "held",
		gate.KindBreaker:   "breaker open",
		gate.KindProbe:     "one probe at a time",
		gate.KindSlowStart: "slow start after a hold",
		gate.KindSlots:     "all slots taken",
	}[r.Kind]
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// sentence says in one line how a command ended by itself.
func (c *call) sentence(o verdict.Outcome, code int, v verdict.Verdict) string {
	how := fmt.Sprintf("%s exited %d", c.command.name(), code)
	if o.Signal != "" {
		how = fmt.Sprintf("%s was ended by %s", c.command.name(), o.Signal)
	}
	if v.Class != verdict.Unknown && v.Class != verdict.Crash {
		how += fmt.Sprintf(" (%s)", v.Class)
	}
	if v.Rule == generic.FailOn { // else it would not be clear why an exit code of 0 is a failure
		how += ", " + c.causeText(&OutputMatched{Code: code})
	}
	if v.Evidence != "" && v.Evidence != fmt.Sprintf("exit %d", o.ExitCode) && v.Evidence != "ended by "+o.Signal {
		how += ": " + lastLine(v.Evidence)
	}
	return how
}

// lastLine is the last line of a text: programs come to the point at the end.
func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// seconds shows a limit as it is written in the messages: "300 s".
func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}
