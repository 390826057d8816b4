package gemini

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// event is a line of -o stream-json. What is not here is not needed; unknown types and fields are left alone.
type event struct {
	Type      string `json:"type"`
	Timestamp string `json:"timestamp"`

	// init
	Session string `json:"session_id"`
	Model   string `json:"model"`

	// message
	Role    string `json:"role"`
	Content string `json:"content"`

	// tool_use and tool_result
	ToolName   string          `json:"tool_name"`
	ToolID     string          `json:"tool_id"`
	Parameters json.RawMessage `json:"parameters"`

	// error
	Severity string `json:"severity"`
	Message  string `json:"message"`

	// result
	Status string   `json:"status"` // of tool_result too
	Error  *failure `json:"error"`
	Stats  *stats   `json:"stats"`
}

// failure is an error in gemini's own form. Its code is a status of HTTP, an exit code or the name of a kind.
type failure struct {
	Type    string          `json:"type"`
	Message string          `json:"message"`
	Code    json.RawMessage `json:"code"`
}

// types are the kinds of events.
var types = []string{"init", "message", "tool_use", "tool_result", "error", "result"}

// parse reads a line. ok is false for what is no event: the answer of a model may well look like JSON.
func parse(line []byte) (e event, ok bool) {
	if len(line) == 0 || line[0] != '{' || agent.Lenient(json.Unmarshal(line, &e)) != nil {
		return event{}, false
	}
	return e, slices.Contains(types, e.Type) && e.Timestamp != ""
}

// document is what -o json prints. With an error that no answer came of, it is on stderr and has no response.
type document struct {
	Session  string         `json:"session_id"`
	Response *string        `json:"response"`
	Stats    *documentStats `json:"stats"`
	Error    *failure       `json:"error"`
	Warnings []string       `json:"warnings"`
}

// parseDocument reads the object that text begins with.
func parseDocument(text string) (d document, ok bool) {
	if !strings.HasPrefix(text, "{") || agent.Lenient(json.NewDecoder(strings.NewReader(text)).Decode(&d)) != nil {
		return document{}, false
	}
	return d, d.Response != nil || d.Error != nil
}
