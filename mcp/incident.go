package mcp

import (
	"encoding/json"
	"time"

	"github.com/belay-run/belay/journal"
	"github.com/belay-run/belay/verdict"
)

// The classes of what goes wrong with a server.
const (
	classTimeout = verdict.Timeout
	classCrash   = verdict.Crash
	classRefused = verdict.BreakerOpen
)

// incident is something that belongs on record. It never has arguments or results in it.
type incident struct {
	event  string // crash, hung, start_failed, timeout, retry, refused, pollution, late, oversize
	text   string
	method string
	tool   string
	count  int
	took   time.Duration
	class  verdict.Class
	death  *death

	generation, pid int
}

func (c *core) record(r incident) {
	r.generation, r.pid = c.generation, c.pid
	c.out.record(r)
}

// entry is the line of the log.
func (o *Options) entry(r incident, now time.Time) journal.Entry {
	detail := struct {
		Server     string `json:"server"`
		Generation int    `json:"generation"`
		PID        int    `json:"pid,omitempty"`
		Method     string `json:"method,omitempty"`
		Tool       string `json:"tool_name,omitempty"`
		Count      int    `json:"count,omitempty"`
		Stderr     string `json:"stderr,omitempty"`
	}{Server: o.Name, Generation: r.generation, PID: r.pid, Method: r.method, Tool: r.tool, Count: r.count}
	e := journal.Entry{Timestamp: journal.Time{Time: now}, Invocation: o.ID, Profile: o.gateKey(), Command: o.command(), Attempt: r.generation,
		Status: journal.Error, ErrorType: r.class, Error: r.text, ResponseTime: r.took.Seconds(), Gate: o.gateKey(),
		Kind: journal.MCP, Event: r.event}
	if r.event == "retry" {
		e.Status = journal.Retry
	}
	if d := r.death; d != nil {
		e.Error, e.ExitCode, e.Signal, e.ResponseTime = "the server "+d.text(), d.code, d.signal, d.uptime.Seconds()
		detail.Stderr = d.tail
		if d.err != nil {
			e.ErrorType = verdict.ToolMissing
		}
	}
	e.Detail, _ = json.Marshal(detail)
	return e
}
