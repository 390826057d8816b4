package belay

import (
	"bufio"
	"bytes"
	"io"
	"time"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/verdict"
)

// Result is what became of a command. Its JSON is described in docs/json.md: the tags are the names there, and error_type,
// retryable, sent, provider, model and http_status are those of Verdict.
type Result struct {
	ID      string `json:"id"`
	Success bool   `json:"success"`
	// Output is the standard output of the attempt that counted, or an agent's answer, where it was held or kept; else nil.
	Output *Output `json:"result"`
	// Verdict is that of the last attempt.
	Verdict verdict.Verdict `json:"-"`
	// Error is what went wrong, in words; empty on success. The error that came with the result says more.
	Error string `json:"error"`
	// Errors are what went wrong, attempt by attempt. The last one is Error, unless it is a success in the end.
	Errors []string `json:"errors"`
	// MayBeDone says that it failed, was to change something, and may have done so all the same.
	MayBeDone bool `json:"-"`
	// RetryAt is the time before which another call is pointless; zero if nothing is known.
	RetryAt time.Time `json:"retry_at"`

	// Session is the agent's name for the conversation; Resumed says that it went on with one; Usage is what all attempts
	// have used.
	Session string        `json:"session_id"`
	Resumed bool          `json:"resumed"`
	Usage   verdict.Usage `json:"usage"`

	// Duration is how long all of it took, in milliseconds in JSON.
	Duration time.Duration `json:"duration_ms"`
	// Attempts is how often the command was started.
	Attempts int `json:"attempts"`
	// Requests is how many requests all attempts have made of their service, as far as the command tells; 0 if it does not.
	Requests int `json:"requests"`
	// Waited is what was waited in all, in seconds in JSON: at gate and scope, between attempts, and inside a CLI that
	// tries again by itself.
	Waited time.Duration `json:"total_wait_time"`
	// Profile is what the command was treated as.
	Profile string `json:"profile"`
	// Fallback is the fallback whose result it is; empty if it is that of the command itself.
	Fallback string `json:"fallback"`

	// Name and Tags are the labels of the run, see [Runner]; Parent is the run that it was started in, empty for none.
	Name   string            `json:"name"`
	Tags   map[string]string `json:"tags"`
	Parent string            `json:"parent"`

	// Silent says that an agent has failed, and that what was passed on of its output does not say why.
	Silent bool `json:"-"`

	// ChildCode is the command's own exit code, as a shell shows it; -1 if it never ran to an end.
	ChildCode int `json:"child_exit_code"`
	// ExitCode is the code to end with for a program that does nothing else: the command's own where that means something,
	// else 2 if it could not be run as asked for, 75 if it may work later, 78 if a person must act (credentials, billing),
	// 124 after a timeout, 125 if Belay itself failed, 126 and 127 if the command cannot be executed or was not found, and
	// 128 and the signal's number if it was told to stop.
	ExitCode int `json:"exit_code"`

	// Left are processes that the command has left running; OrphansKilled is how many were ended.
	Left          []Process `json:"left_running"`
	OrphansKilled int       `json:"orphans_killed"`
	// Log is the file with a line for each attempt; empty if there is none.
	Log string `json:"log"`
}

// WriteJSON writes the result as one line of JSON. Output of any size is copied piece by piece.
func (r *Result) WriteJSON(w io.Writer) error {
	b := bufio.NewWriter(w)
	if err := r.engine().WriteJSON(b); err != nil {
		return err
	}
	return b.Flush()
}

// MarshalJSON implements [json.Marshaler]. It has all of the output in memory; [Result.WriteJSON] has not.
func (r Result) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	err := r.WriteJSON(&b)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// WriteText writes the result for a person to read: how it went, the beginning of the output, what went wrong, and what it
// cost.
func (r *Result) WriteText(w io.Writer) error { return r.engine().WriteText(w) }

// newResult is a result of the engine as this package has it.
func newResult(r *engine.Result) *Result {
	return &Result{
		ID: r.ID, Success: r.Success, Output: newOutput(r.Output), Verdict: r.Verdict, Error: r.Err, Errors: r.Errors, MayBeDone: r.MayBeDone, RetryAt: r.RetryAt,
		Session: r.Session, Resumed: r.Resumed, Usage: r.Usage, Duration: r.Duration, Attempts: r.Attempts, Requests: r.Requests, Waited: r.Waited,
		Profile: r.Profile, Fallback: r.Fallback, Silent: r.Silent, ChildCode: r.ChildCode, ExitCode: r.ExitCode, Left: newProcesses(r.Left), OrphansKilled: r.OrphansKilled, Log: r.Log,
		Name: r.Name, Tags: r.Tags, Parent: r.Parent,
	}
}

// engine is the result as the engine has it, which knows how to write it.
func (r *Result) engine() *engine.Result {
	e := &engine.Result{
		ID: r.ID, Success: r.Success, Output: r.Output.held(), Verdict: r.Verdict, Err: r.Error, Errors: r.Errors, MayBeDone: r.MayBeDone, RetryAt: r.RetryAt,
		Session: r.Session, Resumed: r.Resumed, Usage: r.Usage, Duration: r.Duration, Attempts: r.Attempts, Requests: r.Requests, Waited: r.Waited,
		Profile: r.Profile, Fallback: r.Fallback, Silent: r.Silent, ChildCode: r.ChildCode, ExitCode: r.ExitCode, OrphansKilled: r.OrphansKilled, Log: r.Log,
		Name: r.Name, Tags: r.Tags, Parent: r.Parent,
	}
	for _, p := range r.Left {
		e.Left = append(e.Left, supervise.Proc{PID: p.PID, Name: p.Name})
	}
	return e
}

// Output is what a command has printed on one stream. It can be read as often as needed, by several goroutines. What is
// larger than 1 MiB is in a temporary file without a name, which goes with the process at the latest. A nil Output is empty.
type Output struct{ output *engine.Output }

func newOutput(o *engine.Output) *Output {
	if o == nil {
		return nil
	}
	return &Output{o}
}

func (o *Output) held() *engine.Output {
	if o == nil {
		return nil
	}
	return o.output
}

// Size is how many bytes it holds.
func (o *Output) Size() int64 { return o.held().Size() }

// ReadAt implements [io.ReaderAt].
func (o *Output) ReadAt(p []byte, off int64) (n int, err error) {
	if o.held() == nil {
		return 0, io.EOF
	}
	return o.held().ReadAt(p, off)
}

// Reader reads it from the beginning.
func (o *Output) Reader() io.Reader { return o.held().Reader() }

// String is all of it.
func (o *Output) String() string { return o.held().String() }

// Close frees it: it then holds nothing.
func (o *Output) Close() error { return o.held().Close() }
