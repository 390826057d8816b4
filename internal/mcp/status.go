package mcp

import (
	"fmt"

	"github.com/belay-run/belay/internal/supervise"
)

// statusText says how a process ended, as Go does.
func statusText(e supervise.Exit) string {
	switch {
	case e.Signal != 0:
		return "signal: " + e.Signal.String()
	case e.Code < 0:
		return "its exit status is unknown"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}
