package overview

import (
	"cmp"
	"io"
	"slices"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/term"
)

// Limit is how much of a window of an account is used, as its agents tell. Fields are only ever added.
type Limit struct {
	Account  string       `json:"account"` // the key of its gate
	Window   string       `json:"window"`
	Model    *string      `json:"model"` // part of the name of the models that fall under it; null if all do
	Used     float64      `json:"used"`  // 1 is all of it
	Resets   journal.Time `json:"resets_at"`
	Told     journal.Time `json:"told_at"`
	By       *string      `json:"told_by"`  // a run
	Warning  bool         `json:"warning"`  // it is nearly full, or will be before it resets
	Forecast *Forecast    `json:"forecast"` // null if too little is known for one
}

// Forecast is where the pace of the last hour leads.
type Forecast struct {
	Used float64       `json:"used"`    // when the window resets
	Full *journal.Time `json:"full_at"` // null if it will not be full before that
}

// LimitsOf returns the windows that the states of gates know of; never nil.
func LimitsOf(entries []gate.Entry, now time.Time) []Limit {
	list := []Limit{}
	for _, e := range entries {
		for _, w := range quota.Merge(e.State.Quota.At(now), nil) { // which bounds them
			list = append(list, NewLimit(e.Key, &w, now))
		}
	}
	// Two keys may look alike once they are printable. A metric must not come twice.
	return slices.CompactFunc(list, func(a, b Limit) bool { return a.Account == b.Account && a.Window == b.Window })
}

// NewLimit says how a window stands.
func NewLimit(account string, w *quota.Window, now time.Time) Limit {
	l := Limit{Account: name(account), Window: name(w.Name), Model: orNull(w.Model), Used: w.Used, Resets: journal.Time{Time: w.Resets},
		Told: journal.Time{Time: w.Told}, By: orNull(w.By), Warning: w.Used >= 0.8}
	if share, full, ok := w.Forecast(now); ok {
		l.Forecast = &Forecast{Used: share}
		if !full.IsZero() {
			l.Forecast.Full, l.Warning = &journal.Time{Time: full}, true
		}
	}
	return l
}

// name is a name that a file has, as it can be shown anywhere.
func name(text string) string { return printable.CutMiddle(printable.Line(text), 128, "…") }

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return new(name(text))
}

// Short says how it stands in a few words: five_hour 84% used, resets 14:00.
func (l *Limit) Short(now time.Time) string {
	return l.Window + " " + l.Percent() + " used, resets " + message.TimeOfDay(l.Resets.Time, now)
}

// Words says it with what the forecast is.
func (l *Limit) Words(now time.Time) string {
	text := l.Short(now)
	if leads := l.Leads(now); leads != "" {
		text += " (forecast: " + leads + ")"
	}
	return text
}

// SayLimits writes a line for each.
func SayLimits(w io.Writer, list []Limit) {
	for _, l := range list {
		term.Line(w, l.Account+": "+l.Words(time.Now()))
	}
}

// Percent is the share that is used, for people.
func (l *Limit) Percent() string { return quota.Percent(l.Used) }

// Leads is what the forecast says, for people; empty if there is none.
func (l *Limit) Leads(now time.Time) string {
	switch f := l.Forecast; {
	case f == nil || l.Used >= 1: // what is the case needs no forecast
		return ""
	case f.Full == nil:
		return quota.Percent(f.Used) + " at the reset"
	case !f.Full.After(now):
		return "full by now"
	default:
		return "full at about " + message.TimeOfDay(f.Full.Time, now)
	}
}

// Style is how it looks.
func (l *Limit) Style() term.Style {
	switch {
	case l.Used >= 1:
		return term.Bad
	case l.Warning:
		return term.Warning
	}
	return term.Good
}

// LimitGauges are the figures of a limit, for those who collect metrics. A value below 0 is not known.
var LimitGauges = []struct {
	Name, Dotted, Unit, Help string
	Value                    func(*Limit) float64
}{
	{"belay_quota_used_ratio", "belay.quota.used", "1", "Share of a window of an account that is used, as its agents tell; 1 is all of it.",
		func(l *Limit) float64 { return l.Used }},
	{"belay_quota_forecast_ratio", "belay.quota.forecast", "1", "Forecast: the share that is used at the reset if it goes on as in the last hour.",
		func(l *Limit) float64 { return cmp.Or(l.Forecast, &Forecast{Used: -1}).Used }},
	{"belay_quota_resets_timestamp_seconds", "belay.quota.resets", "s", "When the window begins anew, in seconds since 1970.",
		func(l *Limit) float64 { return float64(l.Resets.Unix()) }},
}
