package opencode

import (
	"encoding/json"
	"slices"
)

// event is a line of `opencode run --format json`. What is not here is not needed; unknown types and fields are left alone.
type event struct {
	Type    string  `json:"type"`
	Session string  `json:"sessionID"`
	Part    part    `json:"part"`
	Error   failure `json:"error"`
}

// part is a piece of a message: something the model said, a tool that it called, the begin or the end of a model call.
type part struct {
	Type   string `json:"type"`
	Text   string `json:"text"`
	CallID string `json:"callID"`
	Tool   string `json:"tool"`
	State  struct {
		Status string          `json:"status"`
		Error  string          `json:"error"`
		Input  json.RawMessage `json:"input"`
	} `json:"state"`
	Reason string  `json:"reason"`
	Cost   float64 `json:"cost"`
	Tokens tokens  `json:"tokens"`
}

// failure is what opencode says of an error.
type failure struct {
	Name string `json:"name"`
	Data struct {
		Message    string            `json:"message"`
		Status     int               `json:"statusCode"`
		Retryable  *bool             `json:"isRetryable"`
		Headers    map[string]string `json:"responseHeaders"`
		Body       string            `json:"responseBody"`
		ProviderID string            `json:"providerID"`
		Metadata   map[string]string `json:"metadata"`
	} `json:"data"`
}

// kinds are the types of events that there are, so that a line of JSON in an answer is not taken for one.
var kinds = []string{"step_start", "text", "reasoning", "tool_use", "step_finish", "error"}

// readEvent reads a line; false means that it is no event.
func readEvent(line []byte) (e event, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return e, false
	}
	_ = json.Unmarshal(line, &e) // a field that has become something else leaves the others readable
	return e, slices.Contains(kinds, e.Type) && (e.Session != "" || e.Error.Name != "")
}
