package codex

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// event is a line of `codex exec --json`. What is not here is not needed; unknown types and fields are left alone.
type event struct {
	Type     string          `json:"type"`
	ThreadID string          `json:"thread_id"`
	Message  string          `json:"message"`
	Usage    json.RawMessage `json:"usage"`
	Error    struct {
		Message string `json:"message"`
	} `json:"error"`
	Item item `json:"item"`
}

// item is a piece of work: something the model said, or did with a tool.
type item struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Text    string `json:"text"`
	Message string `json:"message"` // of an error
	Server  string `json:"server"`  // of an mcp_tool_call
	Tool    string `json:"tool"`    // its name, where the type does not tell

	Command   string          `json:"command"`   // of a command_execution
	Query     string          `json:"query"`     // of a web_search
	Arguments json.RawMessage `json:"arguments"` // of an mcp_tool_call
	Changes   []struct {
		Path string `json:"path"`
	} `json:"changes"` // of a file_change
}

// readEvent reads a line; one that is no event has no type.
func readEvent(line []byte) (e event) {
	if len(line) > 0 && line[0] == '{' {
		_ = json.Unmarshal(line, &e) // a field that has become something else leaves the others readable
	}
	return e
}

// ofModel reports whether the item comes from the model. An item of type error is a warning of codex itself: unknown
// model metadata, an ignored setting, no WebSocket.
func (i item) ofModel() bool { return i.Type != "" && i.Type != "error" }

// tool reports whether the item is a tool at work.
func (i item) tool() bool {
	return slices.Contains([]string{"command_execution", "mcp_tool_call", "collab_tool_call", "file_change", "web_search"}, i.Type)
}

// toolName is what a tool is called: its type, or the name that its server or codex gives it.
func (i item) toolName() string {
	switch {
	case i.Server != "" && i.Tool != "":
		return i.Server + "." + i.Tool
	case i.Tool != "":
		return i.Tool
	}
	return i.Type
}

// argument is what tells most of what a tool was given.
func (i item) argument() string {
	switch {
	case i.Command != "":
		return agent.ShortArgument(typed(i.Command))
	case i.Query != "":
		return agent.ShortArgument(i.Query)
	case len(i.Changes) > 0:
		return agent.ShortArgument(i.Changes[0].Path)
	}
	return agent.ToolArgument(i.Arguments)
}

// call is the call of the tool. Of others than these the events do not have the input.
func (i item) call() agent.Call {
	c := agent.NewCall(shortName(i.toolName()), slices.Concat([]byte(i.Command), []byte(i.Query), i.Arguments))
	c.Argument = i.argument()
	return c
}

// typed is a command without the shell that codex gives it to: /bin/bash -lc 'npm test' is what was npm test.
func typed(command string) string {
	shell, line, ok := strings.Cut(command, " -lc ")
	if !ok || strings.ContainsAny(shell, " \t\n") {
		return command
	}
	if quote := line[:min(len(line), 1)]; len(line) > 1 && (quote == "'" || quote == `"`) && strings.HasSuffix(line, quote) {
		line = line[1 : len(line)-1]
	}
	return line
}

// shortName is the one that codex itself shows for a kind of item, and people know.
func shortName(kind string) string {
	return cmp.Or(map[string]string{"command_execution": "exec", "file_change": "patch", "web_search": "search"}[kind], kind)
}

// reconnecting takes a message of progress apart, such as
//
//	Reconnecting... 2/5 (exceeded retry limit, last status: 429 Too Many Requests)
//	Reconnecting... waiting for network (Connection failed: error sending request)
//
// into what goes on and why. The plain form leaves out why.
func reconnecting(message string) (what, why string, ok bool) {
	rest, ok := strings.CutPrefix(message, "Reconnecting...")
	if !ok {
		return "", "", false
	}
	what, why, _ = strings.Cut(strings.TrimSpace(rest), "(")
	return strings.TrimSpace(what), strings.TrimSuffix(why, ")"), true
}
