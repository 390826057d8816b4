// Package journal keeps the record of what was run: one line of JSON for each attempt, in one file that any number
// of processes append to.
//
// An [Entry] is one attempt, or something else that belongs on record. A [Log] appends entries: each with a single write of less than 4 KiB, so that lines
// of different processes never mix and a kill leaves at most one torn tail. [Read] skips torn lines and counts
// them. Output and the environment never get into an entry, and of a prompt no more than [Entry.Prompt]; every text goes through package redact.
// [Classify] says what kind of failure a class is.
package journal

import (
	"encoding/json"
	"iter"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Status is what became of an attempt.
type Status string

const (
	Success   Status = "success"
	Retry     Status = "retry"     // another attempt follows
	Exhausted Status = "exhausted" // worth repeating, but retries or time are used up
	Error     Status = "error"     // final
)

// Entry is one attempt of one invocation. Attempt 0 is a refusal: nothing was started.
type Entry struct {
	Timestamp  Time   `json:"timestamp"`
	Invocation string `json:"invocation"`
	Profile    string `json:"profile"`
	Command    string `json:"command"`
	// Fallback is the fallback that made the attempt, as the caller has named it; empty for the command itself.
	Fallback string `json:"fallback,omitempty"`
	// PromptHash is the SHA-256 of the prompt, to correlate by. Prompt is how it begins, if the user has asked for that; else none of it is ever kept.
	PromptHash string        `json:"prompt_hash,omitempty"`
	Prompt     string        `json:"prompt,omitempty"`
	Attempt    int           `json:"attempt"`
	Status     Status        `json:"status"`
	ErrorType  verdict.Class `json:"error_type,omitempty"`
	Error      string        `json:"error,omitempty"`
	Rule       string        `json:"rule,omitempty"`
	// Why says in words why the run ended with this attempt, or how it goes on where that is not after a wait. Empty after a success, where Error says it, and
	// in lines of older versions.
	Why string `json:"why_ended,omitempty"`
	// Retryable says whether it is worth repeating, where that is not what the class says; else nil.
	Retryable *bool `json:"retryable,omitempty"`
	// ExitCode is the command's own, BelayCode what Belay has ended with; nil if the run goes on after this attempt.
	ExitCode  int    `json:"exit_code"`
	BelayCode *int   `json:"belay_exit_code,omitempty"`
	Signal    string `json:"signal,omitempty"`
	// WaitTime is how long is waited inside the attempt and before the next one, ResponseTime how long this one took, and
	// FirstToken how long until there was something of the model; in seconds. The wait before the next attempt is what is
	// planned, see [Entry.Planned].
	WaitTime     float64         `json:"wait_time,omitempty"`
	ResponseTime float64         `json:"response_time"`
	FirstToken   float64         `json:"first_token,omitempty"`
	RetryAt      Time            `json:"retry_at,omitzero"`
	Session      string          `json:"session_id,omitempty"`
	Usage        json.RawMessage `json:"usage,omitempty"`
	// Requests is how many requests the attempt has made of its service, as far as the command tells, and InnerRetries how
	// often the command has tried again by itself.
	Requests     int `json:"requests,omitempty"`
	InnerRetries int `json:"inner_retries,omitempty"`
	// Tools are those that an agent has used, ToolCalls the first calls of them, and ToolsCut how many more there were.
	Tools     []Tool     `json:"tools,omitempty"`
	ToolCalls []ToolCall `json:"tool_calls,omitempty"`
	ToolsCut  int        `json:"tools_cut,omitempty"`
	Gate      string     `json:"gate,omitempty"`
	// InnerWait is the part of WaitTime that the command has waited by itself, which is also part of ResponseTime. GateWait is
	// how long the attempt was kept waiting before it was let in, by a gate or a scope, beyond what the line before had planned;
	// it is negative where that wait was cut short. Both in seconds. So WaitTime and GateWait of all lines of a run add up to
	// what it has waited.
	InnerWait float64 `json:"inner_wait,omitempty"`
	GateWait  float64 `json:"gate_wait,omitempty"`
	CPUTime   float64 `json:"cpu_time,omitempty"`
	Left      int     `json:"left_running,omitempty"`
	Killed    int     `json:"orphans_killed,omitempty"`
	// PeakMemory is the most memory that the largest process has had, and PeakTree the most that all of them together were seen to have, where that had a limit; in bytes.
	PeakMemory int    `json:"peak_memory_bytes,omitempty"`
	PeakTree   int    `json:"peak_tree_bytes,omitempty"`
	Model      string `json:"model,omitempty"`
	// ModelAsked is the model that was asked for, where Model is another one.
	ModelAsked string `json:"model_asked,omitempty"`
	// Check is the check of the work that the attempt has done; nil if there was none.
	Check *Check `json:"check,omitempty"`
	// Worktree is what has become of the work of a run that had a tree of its own, in words.
	Worktree string `json:"worktree,omitempty"`
	// Provider is the provider of the service that failed, and HTTPStatus what that has answered; empty and 0 where the command
	// does not say, and after a success. With Telemetry the provider is there after a success too.
	Provider   string `json:"provider,omitempty"`
	HTTPStatus int    `json:"http_status,omitempty"`
	// Parent is the run that this one was started in, Traceparent the caller's trace in the W3C's form.
	Parent      string `json:"parent,omitempty"`
	Traceparent string `json:"traceparent,omitempty"`
	// Telemetry says that the run is to be sent as a trace; nil if it is not.
	Telemetry *bool `json:"telemetry,omitempty"`
	// Name and Tags are the labels of the run, its own or those of the run around it; see package label. Project is the directory
	// that its work belongs to.
	Name    string            `json:"name,omitempty"`
	Tags    map[string]string `json:"tags,omitempty"`
	Project string            `json:"project,omitempty"`
	// Batch are the results of the batch that the run is a task of, as a path; Task is its id there, and Line where it begins in
	// the file of tasks, from 1. Empty and 0 for a run of its own.
	Batch string `json:"batch,omitempty"`
	Task  string `json:"task,omitempty"`
	Line  int    `json:"line,omitempty"`

	// Kind is empty for an attempt; else the entry is about something that is none, and the fields above say what they
	// can. Event is what happened, in one word of that kind, and Detail the rest of it: a small JSON object.
	Kind   Kind            `json:"kind,omitempty"`
	Event  string          `json:"event,omitempty"`
	Detail json.RawMessage `json:"detail,omitempty"`
}

// Planned is the part of WaitTime that is still to come when the line is written, in seconds: what is waited before the next
// attempt if nothing comes between. The next line of the run tells in GateWait what became of it. If there is none, because
// Belay was killed, that is not known.
func (e *Entry) Planned() float64 {
	if e.Status != Retry {
		return 0
	}
	return max(0, e.WaitTime-e.InnerWait)
}

// Check is one check of an agent's work, or of a plain command's: Round is how often the work was sent back before, and Time how long the check
// took, in seconds. ExitCode is its own, as a shell shows it; -1 if it has none.
type Check struct {
	Round    int     `json:"round"`
	Passed   bool    `json:"passed"`
	ExitCode int     `json:"exit_code"`
	Time     float64 `json:"time"`
}

// Tool is one that an agent has used: how often, and how long in all, in seconds. Those beyond the first twenty are one
// tool, with the name "…".
type Tool struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	Time  float64 `json:"time"`
}

// ToolCall is one call of a tool: when it began, counted from the start of the attempt, and how long it took, in seconds.
type ToolCall struct {
	Name  string  `json:"name"`
	Start float64 `json:"start"`
	Time  float64 `json:"time"`
}

// Kind is what an entry is about that is no attempt.
type Kind string

const (
	Hook  Kind = "hook"  // a hook of an agent failed
	MCP   Kind = "mcp"   // a call of an MCP server's tool failed, or the server did
	Audit Kind = "audit" // a user reset, held or opened a gate; or a program handled a [Failure]
	Turn  Kind = "turn"  // a turn of a conversation with an agent has ended; the line of the attempt counts its usage too
	Alert Kind = "alert" // an integration, in Profile, has failed often enough to raise an alert
)

// Failure is the Event of an audit entry that says that a program has met an error, and set its session to failed. Its Detail
// has "is_retryable", and as "context" what the program says of it, see [Context].
const Failure = "failure"

// Time is a time in UTC with milliseconds.
type Time struct{ time.Time }

const timeFormat = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements [json.Marshaler].
func (t Time) MarshalJSON() ([]byte, error) {
	return t.UTC().AppendFormat(nil, `"`+timeFormat+`"`), nil
}

// generic is the profile of a plain command.
const generic = "generic"

// Integration is what the failures of an entry are counted by: its profile, or for a plain command, which has none of its
// own, the command's name.
func (e *Entry) Integration() string { return Integration(e.Profile, e.Command) }

// Integration is what the failures of a command with that profile are counted by.
func Integration(profile, command string) string {
	if profile == generic && command != "" {
		return command
	}
	return profile
}

// field is a field of an entry: what it is called in a line, and a pointer to it. keep says that it is written also where there is
// nothing in it.
type field struct {
	name  string
	value any
	keep  bool
}

// bound is an entry whose fields have been found by reflection. That takes longer than reading a line does, so other entries are copied into this one and
// back.
type bound struct {
	Entry
	list []field
}

var bounds = sync.Pool{New: func() any {
	b := &bound{}
	values := reflect.ValueOf(&b.Entry).Elem()
	for i := range values.NumField() {
		name, options, _ := strings.Cut(values.Type().Field(i).Tag.Get("json"), ",")
		f := field{name: name, keep: options == "", value: values.Field(i).Addr().Interface()}
		if values.Field(i).Kind() == reflect.String {
			f.value = values.Field(i).Addr().Convert(reflect.TypeFor[*string]()).Interface()
		}
		b.list = append(b.list, f)
	}
	return b
}}

// fields are all fields of an entry, in their order. Of texts with a type of their own the pointers are those to a string. What is changed through a pointer is
// in the entry after the loop.
func (e *Entry) fields() iter.Seq[field] {
	return func(yield func(field) bool) {
		b := bounds.Get().(*bound)
		b.Entry = *e
		for _, f := range b.list {
			if !yield(f) {
				break
			}
		}
		*e, b.Entry = b.Entry, Entry{}
		bounds.Put(b)
	}
}

// shorten cuts every text to so many bytes, and leaves out tags, which are short unless they are not ours.
func (e *Entry) shorten(most int) {
	e.Tags = nil
	for f := range e.fields() {
		if text, ok := f.value.(*string); ok {
			*text = cut(*text, most)
		}
	}
}
