package engine

import (
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/trace"
)

// TelemetryVar is the environment variable that turns telemetry on. Runs inside a run that has it on have it on too.
const TelemetryVar = "BELAY_TELEMETRY"

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

// traced is the environment of an attempt: where telemetry is on, what the command sends is a part of the attempt's trace.
func traced(c *call.Call, env []string, attempt int) []string {
	if !c.Settings.Telemetry {
		return env
	}
	return trace.OfAttempt(c.ID, trace.OfEnviron(c.Env), attempt).Environ(env)
}
