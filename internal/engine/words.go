package engine

import (
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
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
	text := map[string]string{
		"hold":       "held",
		"breaker":    "breaker open",
		"probe":      "one probe at a time",
		"slow start": "slow start after a hold",
		"slots":      "all slots taken",
	}[r.Kind]
	if r.Reason != "" {
		text += ": " + r.Reason
	}
	return text
}

// LiftCommand is what to type to lift a gate, as it can be pasted into a shell.
func LiftCommand(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(key, "-") {
		key = "'" + strings.ReplaceAll(key, "'", `'\''`) + "'"
		return "belay gates reset -- " + key
	}
	return "belay gates reset " + key
}
