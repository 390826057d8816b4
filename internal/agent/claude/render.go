package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// Answer implements [agent.Reader].
func (f *follower) Answer() agent.Answer {
	if !f.events { // whatever stands in for claude has printed text
		return agent.Printed
	}
	if f.result == nil || f.result.IsError {
		return agent.Answer{}
	}
	return f.result.answer
}

// Render implements [agent.Reader].
func (f *follower) Render(w io.Writer, form agent.Form) error {
	if !f.turnBegun || f.result == nil {
		return nil
	}
	if form == agent.JSON {
		return f.renderJSON(w)
	}
	for i, r := range f.ledger.results {
		text := "\n"
		if strings.HasSuffix(r.answer.String(), "\n") { // one is enough
			text = ""
		}
		if len(r.Errors) > 0 || r.Text == "" && i == len(f.ledger.results)-1 && f.subtype != "success" {
			text = f.failureText(r)
		} else if _, err := r.answer.WriteTo(w); err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	return nil
}

// renderJSON writes the last result. There is one, and so nothing since the last one.
func (f *follower) renderJSON(w io.Writer) error {
	const since = "model_usage_since_last_result"
	if f.last.Long == nil {
		_, err := w.Write(append(withoutField(f.last.Text, since), '\n'))
		return err
	}
	if err := f.last.Long.WriteWithout(w, since); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// failureText is what the text form says of a turn that ended without an answer.
func (f *follower) failureText(r result) string {
	line := &f.profile.line
	switch {
	case f.class == verdict.Interrupted:
		return "" // the user interrupted it and knows
	case f.subtype == "error_max_turns": // as it was asked for: after a resume it may be less
		return fmt.Sprintf("Error: Reached max turns (%s)", line.Value("--max-turns"))
	case f.subtype == "error_max_budget_usd":
		return fmt.Sprintf("Error: Exceeded USD budget (%s)", line.Value("--max-budget-usd"))
	}
	return "Execution error"
}

// withoutField is a JSON object without one of its fields. All else stays as it is, byte for byte.
func withoutField(object []byte, field string) []byte {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return object
	}
	for dec.More() {
		before := dec.InputOffset() // a comma, or the first field
		name, err := dec.Token()
		if err != nil {
			return object
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return object
		}
		if name != field {
			continue
		}
		after := dec.InputOffset()
		rest := object[after:]
		if object[before] != ',' { // the first: the comma is behind it
			rest = bytes.TrimPrefix(rest, []byte(","))
		}
		return append(object[:before:before], rest...)
	}
	return object
}
