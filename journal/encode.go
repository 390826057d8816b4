package journal

import (
	"encoding/json"
	"math"
	"strconv"
)

// object is a JSON object in the making. encoding/json would do, but its machinery costs a twentieth of a whole
// `belay run -- true` when it is first used; a test holds the two against each other.
type object []byte

// key begins a field.
func (o *object) key(name string) {
	sep := byte(',')
	if len(*o) == 0 {
		sep = '{'
	}
	*o = append(append(append(*o, sep, '"'), name...), '"', ':')
}

// text adds a string, unless it is empty and may be left out.
func (o *object) text(name, value string, keep bool) {
	if value == "" && !keep {
		return
	}
	o.key(name)
	*o = appendString(*o, value)
}

func (o *object) integer(name string, n int, keep bool) {
	if n != 0 || keep {
		o.key(name)
		*o = strconv.AppendInt(*o, int64(n), 10)
	}
}

// seconds adds a duration in seconds, to the microsecond.
func (o *object) seconds(name string, s float64, keep bool) {
	if s != 0 || keep {
		o.key(name)
		*o = strconv.AppendFloat(*o, math.Round(s*1e6)/1e6, 'f', -1, 64)
	}
}

func (o *object) time(name string, t Time, keep bool) {
	if !t.IsZero() || keep {
		o.key(name)
		*o = t.UTC().AppendFormat(*o, `"`+timeFormat+`"`)
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

// line writes the entry as one line.
func (e *Entry) line() []byte {
	o := make(object, 0, 512)
	o.time("timestamp", e.Timestamp, true)
	o.text("invocation", e.Invocation, true)
	o.text("profile", e.Profile, true)
	o.text("command", e.Command, true)
	o.text("prompt_hash", e.PromptHash, false)
	o.integer("attempt", e.Attempt, true)
	o.text("status", string(e.Status), true)
	o.text("error_type", string(e.ErrorType), false)
	o.text("error", e.Error, false)
	o.text("rule", e.Rule, false)
	o.integer("exit_code", e.ExitCode, true)
	o.text("signal", e.Signal, false)
	o.seconds("wait_time", e.WaitTime, false)
	o.seconds("response_time", e.ResponseTime, true)
	o.time("retry_at", e.RetryAt, false)
	o.text("session_id", e.Session, false)
	if len(e.Usage) > 0 {
		o.key("usage")
		o = append(o, e.Usage...)
	}
	o.integer("requests", e.Requests, false)
	o.text("gate", e.Gate, false)
	o.seconds("gate_wait", e.GateWait, false)
	o.seconds("cpu_time", e.CPUTime, false)
	o.integer("left_running", e.Left, false)
	o.integer("orphans_killed", e.Killed, false)
	o.text("model", e.Model, false)
	o.text("kind", string(e.Kind), false)
	o.text("event", e.Event, false)
	if len(e.Detail) > 0 {
		o.key("detail")
		o = append(o, e.Detail...)
	}
	return append(o, '}', '\n')
}
