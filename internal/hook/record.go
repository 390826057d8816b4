package hook

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/boundary"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// fail puts a failure on record and returns the exit code for it.
func (h *Hook) fail(begin time.Time, in *input, f *failure) int {
	h.record(begin, in, f)
	if h.FailClosed {
		h.say(fmt.Sprintf("%s %s; blocking because of --fail-closed", h.Label(), f.text))
		return Block
	}
	h.say(fmt.Sprintf("%s %s; continuing without it", h.Label(), f.text))
	return GoOn
}

// record puts a failure on record.
func (h *Hook) record(begin time.Time, in *input, f *failure) {
	if h.Record == nil {
		return
	}
	head := in.begin()
	what := readEvent(head)
	e := journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Command: h.Label(), Attempt: 1, ExitCode: f.code,
		Session: what.session, ResponseTime: time.Since(begin).Seconds(), ErrorType: f.class}
	if f.signal != 0 {
		e.Signal = signalName(f.signal)
	}
	asHook(&e, h.Label(), what.name, what.action, what.session, f.text, lastWords(h.said.String(), head))
	if err := h.Record(e); err != nil {
		h.say(fmt.Sprintf("the failure of %s is not recorded: %v", h.Label(), err))
	}
}

// Recorder makes entries of the log of what boundaries have caught, hooks and tools alike, and has them put on record.
func Recorder(record func(journal.Entry)) boundary.Recorder {
	return func(f boundary.Failure) {
		e := journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Command: f.Name, Attempt: 1, ExitCode: -1,
			Session: f.Session, ResponseTime: f.Took.Seconds(), ErrorType: classes[f.Cause]}
		if f.Kind == boundary.KindTool {
			asTool(&e, f)
		} else {
			asHook(&e, f.Name, f.Event, f.Action, f.Session, f.Text, f.Stack)
		}
		record(e)
	}
}

var classes = map[boundary.Cause]verdict.Class{
	boundary.Panicked: verdict.Crash, boundary.Exited: verdict.Crash, boundary.TimedOut: verdict.Timeout,
	boundary.Failed: verdict.Unknown, boundary.Cancelled: verdict.Interrupted,
}

// asHook makes an entry one about a hook.
func asHook(e *journal.Entry, name, event, action, session, text, stack string) {
	e.Profile, e.Kind, e.Event = "hook:"+name, journal.Hook, event
	e.Status, e.Error = journal.Error, text
	e.Detail = detail(text, stack, func(text, stack string) any {
		return struct {
			Name    string `json:"hook_name"`
			Action  string `json:"event_action"`
			Session string `json:"session_key"`
			Error   string `json:"error"`
			Stack   string `json:"stack,omitempty"`
		}{name, action, session, text, stack}
	})
}

// asTool makes an entry one about a tool of an MCP server.
func asTool(e *journal.Entry, f boundary.Failure) {
	e.Profile, e.Kind, e.Event = "mcp:"+f.Server, journal.MCP, "tool_error"
	e.Status, e.Error = journal.Error, f.Text
	if f.Server == "" {
		e.Profile = "mcp:" + f.Name
	}
	e.Detail = detail(f.Text, f.Stack, func(text, stack string) any {
		return struct {
			Name   string `json:"tool_name"`
			Hash   string `json:"input_sha256,omitempty"`
			Size   int    `json:"input_bytes,omitempty"`
			Error  string `json:"error"`
			Stack  string `json:"stack,omitempty"`
			Server string `json:"server,omitempty"`
		}{f.Name, f.Input.SHA256, f.Input.Size, text, stack, f.Server}
	})
}

// maxDetail is what leaves room for the rest of an entry, whose lines are bounded: what is too long would be left out.
const maxDetail = 2500

// detail encodes the rest of an entry, with less of the stack, and then of the text, until it fits.
func detail(text, stack string, of func(text, stack string) any) json.RawMessage {
	for {
		data, err := json.Marshal(of(text, stack))
		switch {
		case err == nil && len(data) <= maxDetail:
			return data
		case stack != "":
			stack = half(stack)
		case text != "":
			text = half(text)
		default:
			return nil
		}
	}
}

// half is the first half of a text, at the end of a line if there is one.
func half(s string) string {
	r := []rune(s)
	return string(r[:len(r)/2])
}
