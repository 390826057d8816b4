package custom

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// Event says what lines of JSON mean that look a certain way. Paths are names of fields with dots in between; name[] is each
// element of a list.
type Event struct {
	// When has, for each path, the value that the line has there: a string, a number or a boolean. A string in slashes is a pattern, and an empty list
	// stands for null.
	When map[string]any
	// Kind is what such a line tells.
	Kind Kind
	// Paths are where the line has it.
	Paths map[Field]string
	// Status is the HTTP status that such an error means where the line has none; 0 if that is not known.
	Status int
	// Class is what such an error is, whatever it says; empty if its words tell.
	Class verdict.Class
	// Recorded says that such lines are in the CLI's record of the session, and not printed.
	Recorded bool
}

// Kind is what a line tells.
type Kind string

const (
	Start    Kind = "start"    // the run has begun
	Text     Kind = "text"     // the model has said something
	Thinking Kind = "thinking" // the model is at work
	Tool     Kind = "tool"     // a tool was called
	ToolEnd  Kind = "tool_end" // it has ended
	Retry    Kind = "retry"    // the CLI is about to try again by itself
	Error    Kind = "error"    // something failed; the run may go on
	Result   Kind = "result"   // the run has ended well
	Failed   Kind = "failed"   // the run has failed
	Other    Kind = "other"    // a sign of life
)

// Kinds are all of them.
var Kinds = []Kind{Start, Text, Thinking, Tool, ToolEnd, Retry, Error, Result, Failed, Other}

// Field is something that a line may have at a path.
type Field string

const (
	FieldSession    Field = "session"
	FieldModel      Field = "model"
	FieldVersion    Field = "version"
	FieldText       Field = "text"
	FieldTool       Field = "tool"
	FieldToolID     Field = "tool_id"
	FieldToolInput  Field = "tool_input"
	FieldError      Field = "error"
	FieldStatus     Field = "status"
	FieldRetryAfter Field = "retry_after"
	FieldResetAt    Field = "reset_at"
	FieldWait       Field = "wait"    // in seconds
	FieldWaitMillis Field = "wait_ms" // in milliseconds
	FieldInput      Field = "input_tokens"
	FieldOutput     Field = "output_tokens"
	FieldCacheRead  Field = "cache_read_tokens"
	FieldCacheWrite Field = "cache_write_tokens"
	FieldCost       Field = "cost_usd"
)

// Fields are all of them.
var Fields = []Field{FieldSession, FieldModel, FieldVersion, FieldText, FieldTool, FieldToolID, FieldToolInput, FieldError, FieldStatus,
	FieldRetryAfter, FieldResetAt, FieldWait, FieldWaitMillis, FieldInput, FieldOutput, FieldCacheRead, FieldCacheWrite, FieldCost}

// event is an Event made ready.
type event struct {
	*Event
	when []condition
}

// condition is what a line must have at a path.
type condition struct {
	path    []string
	value   any
	pattern *regexp.Regexp // instead of the value
}

func compileEvent(e *Event) (ready event, key string, err error) {
	ready.Event = e
	const deepest = 32
	for field, path := range e.Paths {
		if strings.Count(path, ".") >= deepest {
			return ready, string(field), fmt.Errorf("the path is deeper than %d names", deepest)
		}
	}
	for path, value := range e.When {
		c := condition{path: strings.Split(path, "."), value: value}
		text, _ := value.(string)
		if n := len(text); n > 2 && text[0] == '/' && text[n-1] == '/' {
			if c.pattern, err = compilePattern("", text[1:n-1], ""); err != nil {
				return ready, "when." + path, err
			}
		}
		ready.when = append(ready.when, c)
	}
	return ready, "", nil
}

// matches reports whether the line is one that the event speaks of.
func (e *event) matches(line any) bool {
	for _, c := range e.when {
		if _, isNull := c.value.([]any); isNull {
			if !hasNull(line, c.path) {
				return false
			}
			continue
		}
		if !slices.ContainsFunc(valuesAt(line, c.path), c.accepts) {
			return false
		}
	}
	return true
}

func (c condition) accepts(value any) bool {
	if c.pattern != nil {
		text, ok := value.(string)
		return ok && c.pattern.MatchString(text)
	}
	switch want := c.value.(type) {
	case int64:
		got, ok := value.(float64)
		return ok && got == float64(want)
	default:
		return value == want
	}
}

// read is a line that an event speaks of.
type read struct {
	*event
	line  any
	known bool // an event does
}

// readLine finds what a line means; ok is false if it is no JSON object. A line that no event speaks of is a sign of life.
func readLine(events []event, text []byte) (r read, ok bool) {
	if len(events) == 0 || len(text) == 0 || text[0] != '{' || json.Unmarshal(text, &r.line) != nil {
		return read{}, false
	}
	return find(events, r.line), true
}

func find(events []event, line any) read {
	for i := range events {
		if events[i].matches(line) {
			return read{&events[i], line, true}
		}
	}
	return read{&event{Event: &Event{Kind: Other}}, line, false}
}

// readList finds what the events of a list mean, as which some CLIs print them where one document is asked for; nil if it is none.
func (t *table) readList(text []byte) (list []read) {
	var values []any
	if len(t.events) == 0 || len(text) == 0 || text[0] != '[' || json.Unmarshal(text, &values) != nil {
		return nil
	}
	known := false
	for _, value := range values {
		r := find(t.events, value)
		known = known || r.known
		list = append(list, r)
	}
	if !known {
		return nil // the answer of a model may well be a list
	}
	return list
}

// values are what the line has in a field.
func (r *read) values(f Field) []any {
	path, ok := r.Paths[f]
	if !ok {
		return nil
	}
	return valuesAt(r.line, strings.Split(path, "."))
}

// text is what the line has in a field, as text; several values are put together.
func (r *read) text(f Field) string {
	var b strings.Builder
	for _, value := range r.values(f) {
		b.WriteString(textOf(value))
	}
	return b.String()
}

// textOf is a value as text.
func textOf(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

// number is the value of a field of the line; ok is false if that is not a number.
func (r *read) number(f Field) (sum float64, ok bool) {
	for _, value := range r.values(f) {
		switch v := value.(type) {
		case float64:
			sum, ok = sum+v, true
		case string:
			if n, err := strconv.ParseFloat(v, 64); err == nil {
				sum, ok = sum+n, true
			}
		}
	}
	return sum, ok
}

// maxTokens is more than any run uses. A number beyond it would not survive being added up.
const maxTokens = 1e15

// count is a number of tokens.
func (r *read) count(f Field) int64 {
	n, _ := r.number(f)
	if !(n > 0) {
		return 0
	}
	return int64(min(n, maxTokens))
}

// hasNull reports whether there is a null at a path.
func hasNull(line any, path []string) bool {
	last := len(path) - 1
	return slices.ContainsFunc(valuesAt(line, path[:last]), func(value any) bool {
		object, _ := value.(map[string]any)
		inner, ok := object[path[last]]
		return ok && inner == nil
	})
}

// valuesAt are what stands at a path. Of a name that ends in [] each element counts.
func valuesAt(line any, path []string) []any {
	at := []any{line}
	for _, name := range path {
		name, each := strings.CutSuffix(name, "[]")
		var next []any
		for _, value := range at {
			object, ok := value.(map[string]any)
			if !ok {
				continue
			}
			inner, ok := object[name]
			list, isList := inner.([]any)
			switch {
			case !ok || inner == nil:
			case each && isList:
				next = append(next, list...)
			case !each:
				next = append(next, inner)
			}
		}
		at = next
	}
	return at
}
