package claude

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
)

// event is a line of the stream, with the fields that are used here. Fields come in any order, and versions differ
// in which there are.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	UUID    string `json:"uuid"`

	// system/init
	Version   string `json:"claude_code_version"`
	Model     string `json:"model"`
	KeySource string `json:"apiKeySource"`

	// system/model_fallback, model_refusal_fallback and model_consent_fallback
	Trigger  string `json:"trigger"`
	Scope    string `json:"scope"` // local: only a sub-agent, or a question on the side
	Original string `json:"original_model"`
	Fallback string `json:"fallback_model"`

	// system/api_retry
	Attempt     int           `json:"attempt"`
	RetryDelay  float64       `json:"retry_delay_ms"`
	ErrorStatus int           `json:"error_status"`
	Error       lenientString `json:"error"` // of assistant too

	// system/task_started and the like
	TaskID       string `json:"task_id"`
	TaskType     string `json:"task_type"`
	ToolUseID    string `json:"tool_use_id"` // that has started it
	Backgrounded *bool  `json:"is_backgrounded"`
	Tasks        []task `json:"tasks"`

	RequestID string `json:"request_id"` // control_request and the like, in a conversation

	Parent    string      `json:"parent_tool_use_id"` // of what a subagent says
	Synthetic bool        `json:"isSynthetic"`        // of user: claude itself says it to the model
	RateLimit rateLimit   `json:"rate_limit_info"`
	Message   message     `json:"message"`
	Event     streamEvent `json:"event"`

	result
}

// result is the last line of a turn.
type result struct {
	IsError        bool                  `json:"is_error"`
	Status         int                   `json:"api_error_status"`
	APIErrorType   string                `json:"api_error_type"`
	APIError       string                `json:"api_error"`
	Text           string                `json:"result"`
	StopReason     string                `json:"stop_reason"`
	TerminalReason string                `json:"terminal_reason"`
	StartupFailure string                `json:"startup_failure_reason"`
	Errors         []string              `json:"errors"`
	Turns          int                   `json:"num_turns"`
	CostUSD        *float64              `json:"total_cost_usd"`
	Usage          json.RawMessage       `json:"usage"`
	ModelUsage     map[string]modelUsage `json:"modelUsage"`
	LocalCommand   string                `json:"local_command"`
	Structured     json.RawMessage       `json:"structured_output"`
	// When the stream of the first answer began, and when something of the model came in it; nil where there was no such time.
	StreamBegan *float64 `json:"ttft_stream_ms"`
	FirstToken  *float64 `json:"ttft_ms"`

	answer agent.Answer // all of Text, however long
}

type task struct {
	ID string `json:"task_id"`
}

type message struct {
	ID      string       `json:"id"`
	Model   string       `json:"model"`
	Content blocks       `json:"content"`
	Usage   messageUsage `json:"usage"`
}

// block is a piece of a message.
type block struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	ID        string `json:"id"`    // tool_use
	Name      string `json:"name"`  // of the tool
	Input     input  `json:"input"` // of the tool
	Thinking  length `json:"thinking"`
	ToolUseID string `json:"tool_use_id"` // tool_result
	IsError   bool   `json:"is_error"`
}

// size is how many bytes of it the model has written.
func (b block) size() int64 { return int64(len(b.Text)) + b.Input.size + int64(b.Thinking) }

// length is how long a value is, in bytes of JSON. The value itself is not needed.
type length int64

func (l *length) UnmarshalJSON(data []byte) error {
	*l = length(len(data))
	return nil
}

// input is what a tool is given: how long it is, in bytes of JSON, and the call with it.
type input struct {
	size int64
	call agent.Call
}

func (i *input) UnmarshalJSON(data []byte) error {
	i.size, i.call = int64(len(data)), agent.NewCall("", data)
	return nil
}

// blocks is the content of a message, which may also be mere text.
type blocks []block

func (b *blocks) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '[' {
		return nil
	}
	return agent.Lenient(json.Unmarshal(data, (*[]block)(b)))
}

// text is what the message says.
func (b blocks) text() string {
	var all []string
	for _, one := range b {
		if one.Type == "text" {
			all = append(all, one.Text)
		}
	}
	return strings.Join(all, "\n")
}

// streamEvent is a piece of the model's answer as it comes.
type streamEvent struct {
	Type    string       `json:"type"`
	Message message      `json:"message"`
	Usage   messageUsage `json:"usage"`
	Block   struct {     // that begins
		Type string `json:"type"`
		Name string `json:"name"` // of the tool
	} `json:"content_block"`
	Delta struct {
		StopReason string `json:"stop_reason"` // empty if claude has made up the end, because it was interrupted
	} `json:"delta"`
}

// lenientString is a string where some versions have another type.
type lenientString string

func (w *lenientString) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*w = lenientString(s)
	}
	return nil
}

// types are the kinds of lines in a stream.
var types = []string{"system", "assistant", "user", "result", "stream_event", "rate_limit_event", "conversation_reset"}

// parse reads a line. ok is false for what is no event: the answer of a model may well look like JSON.
func parse(line []byte) (e event, ok bool) {
	if len(line) == 0 || line[0] != '{' {
		return e, false
	}
	if err := agent.Lenient(json.Unmarshal(line, &e)); err != nil {
		return e, false
	}
	return e, slices.Contains(types, e.Type) && (e.Session != "" || e.UUID != "")
}
