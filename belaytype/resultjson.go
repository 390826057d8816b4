package belaytype

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/verdict"
)

// resultJSON is the result's form for others. Fields are only ever added.
type resultJSON struct {
	SchemaVersion int             `json:"schema_version"`
	ID            string          `json:"id"`
	Success       bool            `json:"success"`
	Result        json.RawMessage `json:"result"`
	Errors        []string        `json:"errors"`
	Error         *string         `json:"error"`
	ErrorType     *verdict.Class  `json:"error_type"`
	Retryable     bool            `json:"retryable"`
	RetryAt       *string         `json:"retry_at"`
	Sent          *verdict.Sent   `json:"sent"`
	SessionID     *string         `json:"session_id"`
	Resumed       bool            `json:"resumed"`
	Fallback      *string         `json:"fallback"`
	Usage         verdict.Usage   `json:"usage"`
	DurationMS    int64           `json:"duration_ms"`
	Attempts      int             `json:"attempts"`
	Requests      int             `json:"requests"`
	TotalWaitTime float64         `json:"total_wait_time"`
	Profile       string          `json:"profile"`
	ExitCode      int             `json:"exit_code"`
	ChildCode     *int            `json:"child_exit_code"`
	OrphansKilled int             `json:"orphans_killed"`
	Left          []int           `json:"left_running"`
	PeakMemory    *int64          `json:"peak_memory_bytes"`
	PeakTree      *int64          `json:"peak_tree_bytes"`
	Log           *string         `json:"log"`

	Name   *string           `json:"name"`
	Tags   map[string]string `json:"tags"`
	Parent *string           `json:"parent"`

	SessionRepaired   *string `json:"session_repaired"`
	SessionHandedOver *string `json:"session_handed_over"`
	Prompt            *string `json:"prompt"`
	OutputTail        *string `json:"output_tail"`

	Check    *Check    `json:"check"`
	Worktree *Worktree `json:"worktree"`

	ModelSubstitution *ModelSubstitution `json:"model_substitution"`

	Provider   *string `json:"provider"`
	Model      *string `json:"model"`
	HTTPStatus *int    `json:"http_status"`
}

// placeholder stands in for the output while the rest is encoded: output can be larger than memory.
const placeholder = `"\u0000output\u0000"`

// WriteJSON writes the result as one line of JSON. What could control a terminal is escaped.
func (r *Result) WriteJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	if err := r.writeJSON(out); err != nil {
		return err
	}
	return out.Flush()
}

func (r *Result) writeJSON(w io.Writer) error {
	j := resultJSON{
		SchemaVersion: 1, ID: r.ID, Success: r.Success, Result: json.RawMessage(placeholder), Errors: r.Errors,
		Retryable: r.Verdict.Retryable, Usage: r.Usage, Resumed: r.Resumed, SessionRepaired: optional(r.SessionRepaired), SessionHandedOver: optional(r.SessionHandedOver), DurationMS: r.Duration.Milliseconds(),
		Attempts: r.Attempts, Requests: r.Requests, TotalWaitTime: r.Waited.Seconds(), Profile: r.Profile, ExitCode: r.ExitCode,
		OrphansKilled: r.OrphansKilled, Left: []int{}, PeakMemory: optional(r.PeakMemory), PeakTree: optional(r.PeakTree),
		Error: optional(r.Error), SessionID: optional(r.Verdict.SessionID), Sent: optional(r.Verdict.Sent), Fallback: optional(r.Fallback), Log: optional(r.Log),
		Name: optional(r.Name), Tags: r.Tags, Parent: optional(r.Parent), Prompt: optional(r.Prompt), OutputTail: optional(r.Tail), Check: r.Check, Worktree: r.Worktree, ModelSubstitution: r.ModelSubstitution,
		Provider: optional(r.Verdict.Provider), Model: optional(r.Verdict.Model), HTTPStatus: optional(r.Verdict.HTTPStatus),
	}
	if j.Tags == nil {
		j.Tags = map[string]string{}
	}
	if r.Attempts > 0 && r.ChildCode >= 0 {
		j.ChildCode = &r.ChildCode
	}
	if !r.Success {
		j.ErrorType = &r.Verdict.Class
	}
	if !r.RetryAt.IsZero() {
		j.RetryAt = optional(r.RetryAt.UTC().Format(time.RFC3339))
	}
	if j.Errors == nil {
		j.Errors = []string{}
	}
	for _, p := range r.Left {
		j.Left = append(j.Left, p.PID)
	}
	data, err := json.Marshal(j)
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(printable.JSON(data), []byte(placeholder))
	if _, err := w.Write(before); err != nil {
		return err
	}
	if r.Output == nil && r.Success {
		_, err = io.WriteString(w, "null") // passed through, and not seen
	} else {
		err = writeString(w, r.Output.Reader(), r.Output.Size())
	}
	if err != nil {
		return err
	}
	_, err = w.Write(append(after, '\n'))
	return err
}

// optional is null in JSON for what is empty.
func optional[T comparable](v T) *T {
	var empty T
	if v == empty {
		return nil
	}
	return &v
}

// writeString writes what it reads, so many bytes, as one JSON string, piece by piece. A piece never ends inside a character.
func writeString(w io.Writer, r io.Reader, size int64) error {
	if size == 0 {
		_, err := io.WriteString(w, `""`)
		return err
	}
	if _, err := io.WriteString(w, `"`); err != nil {
		return err
	}
	buf := make([]byte, min(size+utf8.UTFMax, 64<<10)) // room for the rest of a character that was cut
	kept := 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		piece := buf[:kept+n]
		whole := len(piece)
		if err == nil {
			whole = printable.WholeRunes(piece)
		}
		if whole > 0 {
			quoted, merr := json.Marshal(string(piece[:whole]))
			if merr != nil {
				return merr
			}
			if _, werr := w.Write(printable.JSON(quoted[1 : len(quoted)-1])); werr != nil {
				return werr
			}
		}
		kept = copy(buf, piece[whole:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return err
		}
	}
	_, err := io.WriteString(w, `"`)
	return err
}

// MarshalJSON implements [json.Marshaler]. It has all of the output in memory; [Result.WriteJSON] has not.
func (r Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := r.WriteJSON(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
