package engine

import (
	"math"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/supervise"
)

// enclosingRun is the run that this process was started in; empty if there is none.
func enclosingRun() string {
	outer := os.Getenv(supervise.RunIDVar)
	id := outer[strings.LastIndexByte(outer, ',')+1:]
	if !isUUID(id) {
		return ""
	}
	return id
}

// traceparent is the trace that the command belongs to, as the variable TRACEPARENT of its environment has it in the form
// of the W3C's Trace Context; empty if there is none, or it is not well-formed:
//
//	00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
//
// Later versions may have more behind that, which is left out.
func traceparent(env []string) string {
	const form = "00-00000000000000000000000000000000-0000000000000000-00"
	for _, kv := range env {
		value, ok := strings.CutPrefix(kv, "TRACEPARENT=")
		if !ok {
			continue
		}
		version, more := value[:min(len(value), 2)], value[min(len(value), len(form)):]
		if more != "" && (version == "00" || more[0] != '-') || version == "ff" {
			return ""
		}
		value = value[:len(value)-len(more)]
		if len(value) != len(form) || value[3:35] == form[3:35] || value[36:52] == form[36:52] {
			return ""
		}
		for i, c := range []byte(value) {
			if hex := c >= '0' && c <= '9' || c >= 'a' && c <= 'f'; hex != (form[i] == '0') || !hex && c != '-' {
				return ""
			}
		}
		return value
	}
	return ""
}

// describe puts on record what the events of an agent have told of an attempt.
func (t *transcript) describe(e *journal.Entry, a *agent.Account) {
	if t == nil {
		return
	}
	e.FirstToken, e.InnerRetries = t.first.Seconds(), t.inner+a.Unseen
	for _, one := range a.Tools.Totals {
		e.Tools = append(e.Tools, journal.Tool{Name: one.Name, Count: one.Count, Time: milliseconds(one.Time)})
	}
	for _, call := range a.Tools.Calls {
		e.ToolCalls = append(e.ToolCalls, journal.ToolCall{Name: call.Name, Start: milliseconds(call.Start.Sub(t.began)), Time: milliseconds(call.Time)})
	}
	e.ToolsCut = a.Tools.Cut
}

// milliseconds are seconds that are rounded to them.
func milliseconds(d time.Duration) float64 { return math.Round(d.Seconds()*1e3) / 1e3 }
