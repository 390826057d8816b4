package journal

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/verdict"
)

// decode reads a line that was written by [Log]. encoding/json takes several times as long, which is most of what it
// costs to read a log of a million lines. What is not plain is left to it (ok is false): a test and a fuzzer hold the two
// against each other.
func decode(line []byte, e *Entry) (ok bool) {
	in := scanner{bytes.TrimRight(line, "\r\n")}
	if !in.skip('{') {
		return false
	}
	for {
		key, ok := in.text()
		if !ok || !in.skip(':') || !in.field(key, e) {
			return false
		}
		switch {
		case in.skip(','):
		case in.skip('}'):
			return len(in.rest) == 0
		default:
			return false
		}
	}
}

// field reads the value of a key.
func (in *scanner) field(key string, e *Entry) (ok bool) {
	switch key {
	case "timestamp":
		return in.time(&e.Timestamp)
	case "invocation":
		e.Invocation, ok = in.text()
	case "profile":
		e.Profile, ok = in.text()
	case "command":
		e.Command, ok = in.text()
	case "prompt_hash":
		e.PromptHash, ok = in.text()
	case "attempt":
		return in.integer(&e.Attempt)
	case "status":
		var s string
		s, ok = in.text()
		e.Status = Status(s)
	case "error_type":
		var s string
		s, ok = in.text()
		e.ErrorType = verdict.Class(s)
	case "error":
		e.Error, ok = in.text()
	case "rule":
		e.Rule, ok = in.text()
	case "exit_code":
		return in.integer(&e.ExitCode)
	case "signal":
		e.Signal, ok = in.text()
	case "wait_time":
		return in.number(&e.WaitTime)
	case "response_time":
		return in.number(&e.ResponseTime)
	case "retry_at":
		return in.time(&e.RetryAt)
	case "session_id":
		e.Session, ok = in.text()
	case "usage":
		e.Usage, ok = in.object()
	case "requests":
		return in.integer(&e.Requests)
	case "gate":
		e.Gate, ok = in.text()
	case "gate_wait":
		return in.number(&e.GateWait)
	case "model":
		e.Model, ok = in.text()
	case "cpu_time":
		return in.number(&e.CPUTime)
	case "left_running":
		return in.integer(&e.Left)
	case "orphans_killed":
		return in.integer(&e.Killed)
	}
	return ok
}

// scanner is what is left of a line.
type scanner struct{ rest []byte }

func (in *scanner) skip(c byte) bool {
	if len(in.rest) == 0 || in.rest[0] != c {
		return false
	}
	in.rest = in.rest[1:]
	return true
}

// text reads a string without escapes.
func (in *scanner) text() (string, bool) {
	if !in.skip('"') {
		return "", false
	}
	end := bytes.IndexByte(in.rest, '"')
	if end < 0 {
		return "", false
	}
	text := in.rest[:end]
	for _, c := range text {
		if c < ' ' || c == '\\' {
			return "", false
		}
	}
	if !utf8.Valid(text) {
		return "", false
	}
	in.rest = in.rest[end+1:]
	return string(text), true
}

// token reads up to the end of a number.
func (in *scanner) token() string {
	end := bytes.IndexAny(in.rest, ",}")
	if end < 0 {
		return ""
	}
	text := in.rest[:end]
	for i, c := range text {
		// A leading zero is no number in JSON; what else is strange is none to strconv.
		if c != '-' && c != '.' && (c < '0' || c > '9') || i == 0 && c == '0' && len(text) > 1 && text[1] != '.' || c == '.' && i+1 == len(text) {
			return ""
		}
	}
	in.rest = in.rest[end:]
	return string(text)
}

func (in *scanner) integer(into *int) bool {
	n, err := strconv.Atoi(in.token())
	*into = n
	return err == nil
}

func (in *scanner) number(into *float64) bool {
	text := in.token()
	if text == "" || text[0] == '.' || text[0] == '-' {
		return false
	}
	f, err := strconv.ParseFloat(text, 64)
	*into = f
	return err == nil
}

func (in *scanner) time(into *Time) bool {
	text, ok := in.text()
	if !ok {
		return false
	}
	t, err := time.Parse(time.RFC3339, text)
	into.Time = t
	return err == nil
}

// object reads a piece of JSON in braces.
func (in *scanner) object() (json.RawMessage, bool) {
	depth, quoted := 0, false
	for i := 0; i < len(in.rest); i++ {
		switch c := in.rest[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				piece := bytes.Clone(in.rest[:i+1])
				in.rest = in.rest[i+1:]
				return piece, json.Valid(piece)
			}
		case depth == 0:
			return nil, false
		}
	}
	return nil, false
}
