package tasks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// jsonReader reads an object a line.
type jsonReader struct{ *lineReader }

// Next implements [Reader].
func (r *jsonReader) Next() (Task, error) {
	line, err := r.next()
	if err != nil {
		return Task{}, err
	}
	t, column, err := parseJSONTask(line)
	if err != nil {
		return Task{}, r.mistake(column, err, 0)
	}
	t.Line = r.line
	return t, nil
}

// jsonTask is a task as a line of JSON has it.
type jsonTask struct {
	ID        taskID            `json:"id"`
	Prompt    string            `json:"prompt"`
	Args      []string          `json:"args"`
	Cwd       string            `json:"cwd"`
	Env       map[string]string `json:"env"`
	Profile   string            `json:"profile"`
	Model     string            `json:"model"`
	Name      string            `json:"name"`
	Tags      map[string]string `json:"tags"`
	Timeout   span              `json:"timeout"`
	MaxCost   float64           `json:"max_cost"`
	DependsOn taskIDs           `json:"depends_on"`
	Needs     []string          `json:"needs"`
	Files     string            `json:"files"`
}

// jsonKeys are the keys of a task; others are fields for placeholders.
var jsonKeys = []string{"id", "prompt", "args", "cwd", "env", "profile", "model", "name", "tags", "timeout", "max_cost", "depends_on", "needs", "files"}

// parseJSONTask reads one line. column is where the mistake is, from 1; 0 if that is not known.
func parseJSONTask(line []byte) (t Task, column int, err error) {
	if first := bytes.TrimLeft(line, " \t"); len(first) > 0 && first[0] != '{' {
		return t, len(line) - len(first) + 1, errors.New(`expected an object, such as {"id": "a", "prompt": "Explain main.go"}`)
	}
	var j jsonTask
	exact, fields, err := otherFields(line)
	if err == nil {
		err = json.Unmarshal(exact, &j)
	}
	if err != nil && len(exact) < len(line) { // where it is in the line is not known
		return t, 0, jsonError(err)
	}
	if err != nil {
		return t, jsonColumn(err), jsonError(err)
	}
	if j.MaxCost < 0 {
		return t, 0, errors.New(message.BatchNegativeCost())
	}
	t = Task{ID: string(j.ID), Prompt: j.Prompt, Args: j.Args, Cwd: j.Cwd, Env: j.Env, Profile: j.Profile, Model: j.Model, Name: j.Name, Tags: j.Tags,
		Timeout: time.Duration(j.Timeout), MaxCost: j.MaxCost, DependsOn: j.DependsOn, Needs: j.Needs, Files: j.Files, Fields: fields}
	return t, 0, nil
}

// otherFields are the keys of an object that are not those of a task, and whose values are text, numbers or truth values. exact is the line without such keys that
// package json would take for those of a task, as "Name" for "name"; nearly always it is the line itself.
func otherFields(line []byte) (exact []byte, fields map[string]string, err error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		return line, nil, err
	}
	isExact := true
	for key, raw := range all {
		if slices.Contains(jsonKeys, key) {
			continue
		}
		isExact = isExact && !slices.ContainsFunc(jsonKeys, func(of string) bool { return strings.EqualFold(of, key) })
		delete(all, key)
		text := string(raw)
		if raw[0] == '{' || raw[0] == '[' || text == "null" || raw[0] == '"' && json.Unmarshal(raw, &text) != nil {
			continue
		}
		if fields == nil {
			fields = map[string]string{}
		}
		fields[key] = text
	}
	if isExact {
		return line, fields, nil
	}
	exact, err = json.Marshal(all)
	return exact, fields, err
}

// jsonColumn is where decoding has failed.
func jsonColumn(err error) int {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(max(syntax.Offset, 1))
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return int(max(wrong.Offset, 1))
	}
	return 0
}

// jsonError says what is wrong without naming a type of Go.
func jsonError(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		article := "a"
		switch {
		case wrong.Field == "":
			return errors.New("unexpected " + wrong.Value)
		case wrong.Value == "array" || wrong.Value == "object":
			article = "an"
		}
		return fmt.Errorf("%s cannot be %s %s", wrong.Field, article, wrong.Value)
	}
	return err
}

// taskID is an id, which may be written as a number.
type taskID string

// UnmarshalJSON implements [json.Unmarshaler].
func (id *taskID) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && (data[0] == '-' || data[0] >= '0' && data[0] <= '9') {
		*id = taskID(data)
		return nil
	}
	var text *string
	if err := json.Unmarshal(data, &text); err != nil {
		return errors.New("id must be a string or a number")
	}
	if text != nil {
		*id = taskID(*text)
	}
	return nil
}

// taskIDs is a list of ids, or one.
type taskIDs []string

// UnmarshalJSON implements [json.Unmarshaler].
func (ids *taskIDs) UnmarshalJSON(data []byte) error {
	var list []taskID
	if len(data) > 0 && data[0] != '[' {
		list = make([]taskID, 1)
		if err := list[0].UnmarshalJSON(data); err != nil {
			return errors.New(message.BatchDependsIsIDs())
		}
		if list[0] == "" {
			list = nil
		}
	} else if err := json.Unmarshal(data, &list); err != nil {
		return errors.New(message.BatchDependsIsIDs())
	}
	for _, id := range list {
		*ids = append(*ids, string(id))
	}
	return nil
}

// span is a duration, as text or in seconds.
type span time.Duration

// UnmarshalJSON implements [json.Unmarshaler].
func (s *span) UnmarshalJSON(data []byte) error {
	var seconds float64
	var text *string
	if json.Unmarshal(data, &seconds) == nil {
		return s.setSeconds(seconds)
	}
	if json.Unmarshal(data, &text) != nil || text == nil {
		return errors.New(message.BatchNotADuration(string(data)))
	}
	return s.set(*text)
}

func (s *span) set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		var seconds float64
		if json.Unmarshal([]byte(text), &seconds) != nil {
			return errors.New(message.BatchNotADuration(text))
		}
		return s.setSeconds(seconds)
	}
	if d < 0 {
		return errors.New(message.BatchNotADuration(text))
	}
	*s = span(d)
	return nil
}

func (s *span) setSeconds(seconds float64) error {
	if !(seconds >= 0) {
		return errors.New(message.BatchNotADuration("a negative number"))
	}
	*s = span(min(seconds*float64(time.Second), math.MaxInt64/2))
	return nil
}
