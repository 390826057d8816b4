package relay

import (
	"fmt"
	"time"

	messages "github.com/belay-run/belay/internal/message"
)

// Death is how a server ended.
type Death struct {
	Err    error  // it could not be started at all
	Status string // "exit status 3", "signal: killed"
	Code   int
	Signal string
	Tail   string // of its stderr
	Uptime time.Duration
	why    string // we ended it

	Remote    bool // it was a connection
	Forgotten bool // the server does not know the session any more
}

func (d Death) text() string {
	switch {
	case d.Err != nil && d.Remote:
		return messages.DeathNotReached(d.Err)
	case d.Err != nil:
		return "could not be started (" + d.Err.Error() + ")"
	case d.Forgotten:
		return messages.DeathForgot()
	case d.Remote && d.why != "":
		return d.why + ", and its session was closed"
	case d.Remote:
		return d.Status
	case d.why != "":
		return d.why + " and was terminated"
	}
	return "crashed (" + d.Status + ")"
}

// startText tells a client why there is no server.
func startText(s *Settings, d Death) string {
	switch {
	case d.Err != nil && d.Remote:
		return messages.ServerNotReached(s.Name, d.Err)
	case d.Err != nil:
		return fmt.Sprintf("the MCP server %q cannot be started: %v", s.Name, d.Err)
	case d.Remote:
		return messages.CallNotDone(s.Name, d.text())
	}
	return messages.ServerDied(s.Name, d.text(), d.Tail)
}
