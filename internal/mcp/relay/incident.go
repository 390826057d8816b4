package relay

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/journal"
	messages "github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/verdict"
)

// Incident is something to be put on record. It never contains arguments or results.
type Incident struct {
	event  string // tool_error, request_error, crash, hung, memory, start_failed, retry, refused, pollution, late, oversize, client_error, unrecorded
	text   string
	method string
	tool   string
	input  digest // of a tool's arguments
	code   int    // of a JSON-RPC error
	count  int
	took   time.Duration
	class  verdict.Class
	death  *Death
	// passing says that it is no final result: what it has led to is on record by itself, or there is another try.
	passing bool
	// answered says that the server works: it has answered, and its answer is an error.
	answered bool
	retries  int

	generation, pid int
}

// digest is what is kept of a tool's arguments.
type digest struct {
	sha256 string // empty for arguments that were too large to be kept
	size   int
}

// Unrecorded is the incident that others were not recorded.
func Unrecorded(n int) Incident {
	return Incident{event: "unrecorded", text: fmt.Sprintf("%d incidents were not logged because they came too fast", n), count: n}
}

// Failure says what has failed, if it is the server itself.
func (i *Incident) Failure() (text string, ok bool) {
	switch {
	case !i.serverFailed():
		return "", false
	case i.death != nil:
		return messages.OnServer(i.death.text()), true
	}
	return i.text, true
}

func (i *Incident) serverFailed() bool {
	if i.answered {
		return false
	}
	switch i.class {
	case verdict.Crash, verdict.Timeout, verdict.Resources, verdict.BreakerOpen,
		verdict.Network, verdict.RateLimit, verdict.Overloaded, verdict.ServerError, verdict.Auth: // over a network
		return true
	}
	return false
}

// Entry is the line of the log. id is the proxy's, command what it runs.
func (i *Incident) Entry(s *Settings, id, command string, now time.Time) journal.Entry {
	detail := struct {
		Server     string `json:"server"`
		Generation int    `json:"generation"`
		PID        int    `json:"pid,omitempty"`
		Method     string `json:"method,omitempty"`
		Tool       string `json:"tool_name,omitempty"`
		Hash       string `json:"input_sha256,omitempty"`
		Size       int    `json:"input_bytes,omitempty"`
		Code       int    `json:"code,omitempty"`
		Retries    int    `json:"retry_count,omitempty"`
		Count      int    `json:"count,omitempty"`
		Stderr     string `json:"stderr,omitempty"`
	}{Server: s.Name, Generation: i.generation, PID: i.pid, Method: i.method, Tool: i.tool, Hash: i.input.sha256, Size: i.input.size,
		Code: i.code, Retries: i.retries, Count: i.count}
	e := journal.Entry{Timestamp: journal.Time{Time: now}, Invocation: id, Profile: s.GateKey(), Command: command, Attempt: i.generation,
		Status: journal.Error, ErrorType: i.class, Error: i.text, ResponseTime: i.took.Seconds(), Gate: s.GateKey(),
		Kind: journal.MCP, Event: i.event}
	if i.passing {
		e.Status = journal.Retry
	}
	if d := i.death; d != nil {
		e.Error, e.ExitCode, e.Signal = messages.OnServer(d.text()), d.Code, d.Signal
		if i.method == "" {
			e.ResponseTime = d.Uptime.Seconds()
		}
		detail.Stderr = d.Tail
		if d.Err != nil {
			e.ErrorType = verdict.ToolMissing
		}
	}
	e.Detail, _ = json.Marshal(detail)
	return e
}
