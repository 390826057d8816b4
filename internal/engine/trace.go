package engine

import (
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/supervise"
)

// EnclosingRun is the run that this process was started in; empty if there is none. Hooks and MCP servers in between have
// ids too, and are no runs.
func EnclosingRun() string {
	ids := strings.Split(os.Getenv(supervise.RunIDVar), ",")
	for _, id := range slices.Backward(ids) {
		if agent.IsUUID(id) {
			return id
		}
	}
	return ""
}

// SetLabels says in an entry of the log that is not of a run whose failure it is.
func SetLabels(e *journal.Entry, l label.Labels) {
	e.Name, e.Tags, e.Parent = l.Name, l.Tags, EnclosingRun()
	if dir, err := os.Getwd(); err == nil {
		e.Project = label.Project(dir)
	}
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
