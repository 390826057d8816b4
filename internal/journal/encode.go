package journal

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
)

// object is a JSON object that is being written. encoding/json would do, but its first use costs a twentieth of a whole
// `belay run -- true`; a test compares the two.
type object []byte

// line writes the entry as one line.
func (e *Entry) line(nulls bool) []byte {
	o := make(object, 0, 512)
	if nulls {
		e.each(nullable{&o})
	} else {
		e.each(&o)
	}
	return append(o, '}', '\n')
}

// nullable is an object in which some fields are null where there is nothing in them.
type nullable struct{ *object }

func (o nullable) text(name string, s *string, keep bool) {
	if *s == "" && (name == "prompt_hash" || name == "error_type") {
		o.raw(name, &null)
		return
	}
	o.object.text(name, s, keep)
}

func (o nullable) seconds(name string, s *float64, keep bool) {
	if *s == 0 && name == "wait_time" {
		o.raw(name, &null)
		return
	}
	o.object.seconds(name, s, keep)
}

var null = json.RawMessage("null")

// key begins a field.
func (o *object) key(name string) {
	sep := byte(',')
	if len(*o) == 0 {
		sep = '{'
	}
	*o = append(append(append(*o, sep, '"'), name...), '"', ':')
}

func (o *object) text(name string, s *string, keep bool) {
	if *s != "" || keep {
		o.key(name)
		*o = appendString(*o, *s)
	}
}

func (o *object) integer(name string, n *int, keep bool) {
	if *n != 0 || keep {
		o.key(name)
		*o = strconv.AppendInt(*o, int64(*n), 10)
	}
}

func (o *object) optional(name string, n **int) {
	if *n != nil {
		o.integer(name, *n, true)
	}
}

func (o *object) flag(name string, b **bool) {
	if *b != nil {
		o.key(name)
		*o = strconv.AppendBool(*o, **b)
	}
}

// seconds adds a duration in seconds, to the microsecond.
func (o *object) seconds(name string, s *float64, keep bool) {
	if *s != 0 || keep {
		o.key(name)
		*o = strconv.AppendFloat(*o, microseconds(*s), 'f', -1, 64)
	}
}

// microseconds rounds seconds to them.
func microseconds(s float64) float64 { return math.Round(s*1e6) / 1e6 }

func (o *object) time(name string, t *Time, keep bool) {
	if !t.IsZero() || keep {
		o.key(name)
		*o = t.UTC().AppendFormat(*o, `"`+timeFormat+`"`)
	}
}

func (o *object) raw(name string, data *json.RawMessage) {
	if len(*data) > 0 {
		o.key(name)
		*o = append(*o, *data...)
	}
}

func (o *object) tools(name string, list *[]Tool) { o.list(name, *list, len(*list)) }

func (o *object) toolCalls(name string, list *[]ToolCall) { o.list(name, *list, len(*list)) }

// labels adds tags in the order of their keys, as encoding/json does.
func (o *object) labels(name string, tags *map[string]string) {
	if len(*tags) == 0 {
		return
	}
	o.key(name)
	sep := byte('{')
	for _, key := range slices.Sorted(maps.Keys(*tags)) {
		*o = append(appendString(append(*o, sep), key), ':')
		*o = appendString(*o, (*tags)[key])
		sep = ','
	}
	*o = append(*o, '}')
}

// list adds a list, unless there is nothing in it. Only agents have any, and they take longer than encoding/json.
func (o *object) list(name string, list any, length int) {
	if length == 0 {
		return
	}
	if data, err := json.Marshal(list); err == nil { // else a time is infinite
		o.raw(name, (*json.RawMessage)(&data))
	}
}

// appendString quotes a string. What is not plain is left to encoding/json.
func appendString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, _ := json.Marshal(s) // a string always has a form
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
