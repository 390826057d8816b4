package journal

// field is a field of an entry: what it is called in a line, and a pointer to it. keep says that it is written also where there is
// nothing in it.
type field struct {
	name  string
	value any
	keep  bool
}

// fields are all fields of an entry, in their order.
func (e *Entry) fields() []field {
	return []field{
		{"timestamp", &e.Timestamp, true},
		{"invocation", &e.Invocation, true},
		{"profile", &e.Profile, true},
		{"command", &e.Command, true},
		{"fallback", &e.Fallback, false},
		{"prompt_hash", &e.PromptHash, false},
		{"attempt", &e.Attempt, true},
		{"status", (*string)(&e.Status), true},
		{"error_type", (*string)(&e.ErrorType), false},
		{"error", &e.Error, false},
		{"rule", &e.Rule, false},
		{"retryable", &e.Retryable, false},
		{"exit_code", &e.ExitCode, true},
		{"belay_exit_code", &e.BelayCode, false},
		{"signal", &e.Signal, false},
		{"wait_time", &e.WaitTime, false},
		{"response_time", &e.ResponseTime, true},
		{"first_token", &e.FirstToken, false},
		{"retry_at", &e.RetryAt, false},
		{"session_id", &e.Session, false},
		{"usage", &e.Usage, false},
		{"requests", &e.Requests, false},
		{"inner_retries", &e.InnerRetries, false},
		{"tools", &e.Tools, false},
		{"tool_calls", &e.ToolCalls, false},
		{"tools_cut", &e.ToolsCut, false},
		{"gate", &e.Gate, false},
		{"inner_wait", &e.InnerWait, false},
		{"gate_wait", &e.GateWait, false},
		{"cpu_time", &e.CPUTime, false},
		{"left_running", &e.Left, false},
		{"orphans_killed", &e.Killed, false},
		{"model", &e.Model, false},
		{"provider", &e.Provider, false},
		{"http_status", &e.HTTPStatus, false},
		{"parent", &e.Parent, false},
		{"traceparent", &e.Traceparent, false},
		{"telemetry", &e.Telemetry, false},
		{"name", &e.Name, false},
		{"tags", &e.Tags, false},
		{"project", &e.Project, false},
		{"batch", &e.Batch, false},
		{"task", &e.Task, false},
		{"line", &e.Line, false},
		{"kind", (*string)(&e.Kind), false},
		{"event", &e.Event, false},
		{"detail", &e.Detail, false},
	}
}

// shorten cuts every text to so many bytes, and leaves out tags, which are short unless they are not ours.
func (e *Entry) shorten(most int) {
	e.Tags = nil
	for _, f := range e.fields() {
		if text, ok := f.value.(*string); ok {
			*text = cut(*text, most)
		}
	}
}
