package journal

import "encoding/json"

// codec goes through the fields of an entry: one writes a line, one reads it. keep says that a field is written also where
// there is nothing in it.
type codec interface {
	time(name string, t *Time, keep bool)
	text(name string, s *string, keep bool)
	integer(name string, n *int, keep bool)
	optional(name string, n **int)
	flag(name string, b **bool)
	seconds(name string, s *float64, keep bool)
	raw(name string, data *json.RawMessage)
	tools(name string, list *[]Tool)
	toolCalls(name string, list *[]ToolCall)
	labels(name string, tags *map[string]string)
}

// each shows a codec every field, in their order.
func (e *Entry) each(c codec) {
	c.time("timestamp", &e.Timestamp, true)
	c.text("invocation", &e.Invocation, true)
	c.text("profile", &e.Profile, true)
	c.text("command", &e.Command, true)
	c.text("fallback", &e.Fallback, false)
	c.text("prompt_hash", &e.PromptHash, false)
	c.integer("attempt", &e.Attempt, true)
	c.text("status", (*string)(&e.Status), true)
	c.text("error_type", (*string)(&e.ErrorType), false)
	c.text("error", &e.Error, false)
	c.text("rule", &e.Rule, false)
	c.flag("retryable", &e.Retryable)
	c.integer("exit_code", &e.ExitCode, true)
	c.optional("belay_exit_code", &e.BelayCode)
	c.text("signal", &e.Signal, false)
	c.seconds("wait_time", &e.WaitTime, false)
	c.seconds("response_time", &e.ResponseTime, true)
	c.seconds("first_token", &e.FirstToken, false)
	c.time("retry_at", &e.RetryAt, false)
	c.text("session_id", &e.Session, false)
	c.raw("usage", &e.Usage)
	c.integer("requests", &e.Requests, false)
	c.integer("inner_retries", &e.InnerRetries, false)
	c.tools("tools", &e.Tools)
	c.toolCalls("tool_calls", &e.ToolCalls)
	c.integer("tools_cut", &e.ToolsCut, false)
	c.text("gate", &e.Gate, false)
	c.seconds("inner_wait", &e.InnerWait, false)
	c.seconds("gate_wait", &e.GateWait, false)
	c.seconds("cpu_time", &e.CPUTime, false)
	c.integer("left_running", &e.Left, false)
	c.integer("orphans_killed", &e.Killed, false)
	c.text("model", &e.Model, false)
	c.text("provider", &e.Provider, false)
	c.integer("http_status", &e.HTTPStatus, false)
	c.text("parent", &e.Parent, false)
	c.text("traceparent", &e.Traceparent, false)
	c.flag("telemetry", &e.Telemetry)
	c.text("name", &e.Name, false)
	c.labels("tags", &e.Tags)
	c.text("project", &e.Project, false)
	c.text("batch", &e.Batch, false)
	c.text("task", &e.Task, false)
	c.integer("line", &e.Line, false)
	c.text("kind", (*string)(&e.Kind), false)
	c.text("event", &e.Event, false)
	c.raw("detail", &e.Detail)
}

// shortener cuts every text to so many bytes, and leaves out tags, which are short unless they are not ours.
type shortener int

func (n shortener) text(_ string, s *string, _ bool) { *s = cut(*s, int(n)) }

func (shortener) time(string, *Time, bool)       {}
func (shortener) integer(string, *int, bool)     {}
func (shortener) optional(string, **int)         {}
func (shortener) flag(string, **bool)            {}
func (shortener) seconds(string, *float64, bool) {}
func (shortener) raw(string, *json.RawMessage)   {}
func (shortener) tools(string, *[]Tool)          {}
func (shortener) toolCalls(string, *[]ToolCall)  {}

func (shortener) labels(_ string, tags *map[string]string) { *tags = nil }
