package journal

import (
	"encoding/json"
	"math"
	"strconv"
)

// line writes the entry as one line. nulls says that some fields are null where there is nothing in them. encoding/json would do,
// but its first use costs a twentieth of a whole `belay run -- true`; a test compares the two.
func (e *Entry) line(nulls bool) []byte {
	line := make([]byte, 0, 512)
	for f := range e.fields() {
		before := len(line)
		line = append(append(append(line, ',', '"'), f.name...), '"', ':')
		value := len(line)
		switch line = f.append(line); {
		case len(line) > value:
		case nulls && (f.name == "prompt_hash" || f.name == "error_type" || f.name == "wait_time"):
			line = append(line, "null"...)
		default:
			line = line[:before]
		}
	}
	line[0] = '{'
	return append(line, '}', '\n')
}

// append appends the value of a field; nothing if there is nothing in it and it need not be kept.
func (f field) append(b []byte) []byte {
	switch v := f.value.(type) {
	case *string:
		if *v != "" || f.keep {
			return appendString(b, *v)
		}
	case *int:
		if *v != 0 || f.keep {
			return strconv.AppendInt(b, int64(*v), 10)
		}
	case **int:
		if *v != nil {
			return strconv.AppendInt(b, int64(**v), 10)
		}
	case **bool:
		if *v != nil {
			return strconv.AppendBool(b, **v)
		}
	case *float64:
		if *v != 0 || f.keep {
			return strconv.AppendFloat(b, microseconds(*v), 'f', -1, 64)
		}
	case *Time:
		if !v.IsZero() || f.keep {
			return v.UTC().AppendFormat(b, `"`+timeFormat+`"`)
		}
	case *json.RawMessage:
		return append(b, *v...)
	case *[]Tool:
		return appendJSON(b, *v, len(*v))
	case *[]ToolCall:
		return appendJSON(b, *v, len(*v))
	case **Check:
		if *v != nil {
			return appendJSON(b, *v, 1)
		}
	case *map[string]string:
		return appendJSON(b, *v, len(*v))
	}
	return b
}

// microseconds rounds seconds to them.
func microseconds(s float64) float64 { return math.Round(s*1e6) / 1e6 }

// appendJSON appends a list, unless there is nothing in it. Few runs have any, and those take longer than encoding/json.
func appendJSON(b []byte, list any, length int) []byte {
	if length == 0 {
		return b
	}
	data, err := json.Marshal(list)
	if err != nil { // a time is infinite
		return b
	}
	return append(b, data...)
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
