package clientfile

import (
	"strconv"
	"strings"
	"time"
)

// Grant is how long a client lets a hook run, in seconds.
type Grant struct {
	Seconds float64            // for a hook that has no time of its own
	Events  map[string]float64 // the same for some events
	Max     map[string]float64 // the most that a hook may have at some events
	// Unit is the unit of a hook's own time in the file; 0 means seconds.
	Unit time.Duration
}

// own is a hook's own time in the file, in seconds.
func (g Grant) own(time float64) float64 {
	if g.Unit > 0 {
		return time * g.Unit.Seconds()
	}
	return time
}

// hookTimeout is how long belay lets a hook run that has that many seconds of its own, 0 for none: a second less than the
// client does, so that all has ended before the client ends belay.
func (g Grant) hookTimeout(event string, own float64) string {
	seconds := own
	if seconds <= 0 {
		seconds = g.Seconds
		if s, ok := g.Events[event]; ok {
			seconds = s
		}
	}
	if limit, ok := g.Max[event]; ok {
		seconds = min(seconds, limit)
	}
	if seconds < 2 {
		seconds /= 2
	} else {
		seconds--
	}
	return strconv.FormatFloat(seconds, 'f', -1, 64) + "s"
}

// serverTimeout is a client's limit less a second, half of one below two, as a flag's value: so the client gets the reason
// of a failed call before it gives up by itself.
func serverTimeout(d time.Duration) string {
	if d -= time.Second; d < time.Second {
		d = (d + time.Second) / 2
	}
	text := d.Round(time.Millisecond).String()
	if short, ok := strings.CutSuffix(text, "m0s"); ok {
		text = short + "m"
	}
	return text
}

// takeLimits has belay keep to the times that the client has for a server.
func (f *File) takeLimits(e *Entry, n *node) {
	for _, l := range f.Client.Limits {
		if d := duration(n.get(l.Key), l.Unit); d > 0 {
			e.belayArgs = append(e.belayArgs, l.Flag, serverTimeout(d))
		}
	}
}
