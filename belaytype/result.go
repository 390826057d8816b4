package belaytype

import (
	"bytes"
	"io"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Result is what became of a command. Its JSON is described in docs/json.md: the tags are the names there, and error_type,
// retryable, sent, provider, model and http_status come from Verdict.
type Result struct {
	ID      string `json:"id"`
	Success bool   `json:"success"`
	// Output is the standard output of the attempt that counted, or an agent's answer, where it was held or kept; else nil.
	Output *Output `json:"result"`
	// Tail is the end of what the last attempt has printed to its standard output, at most 8 KiB, where that is not Output because the command failed each time.
	Tail string `json:"output_tail"`
	// Verdict is the verdict of the last attempt.
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
	Session string `json:"session_id"`
	Resumed bool   `json:"resumed"`
	// SessionRepaired is the session of which a repaired copy was resumed, and SessionHandedOver the one of which a new one was told; empty if none was.
	SessionRepaired   string        `json:"session_repaired"`
	SessionHandedOver string        `json:"session_handed_over"`
	Usage             verdict.Usage `json:"usage"`

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

	// ModelSubstitution is that another model has worked on the request than the one that was asked for; nil if none has.
	ModelSubstitution *ModelSubstitution `json:"model_substitution"`

	// Check is how the work was checked; nil if it was not: see [Command.Check].
	Check *Check `json:"check"`

	// Worktree is the tree of its own that it has worked in; nil if there was none.
	Worktree *Worktree `json:"worktree"`

	// Name and Tags are the labels of the run, see belay.Runner; Parent is the run that it was started in, empty for none.
	Name   string            `json:"name"`
	Tags   map[string]string `json:"tags"`
	Parent string            `json:"parent"`

	// Prompt is how the prompt begins, without secrets; empty unless --keep-prompt keeps it.
	Prompt string `json:"prompt"`

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
	// PeakMemory is the most memory that the largest process of an attempt has had, and PeakTree the most that all of them together were seen to have, where there was
	// a limit to that; in bytes. 0 means that it is not known.
	PeakMemory int64 `json:"peak_memory_bytes"`
	PeakTree   int64 `json:"peak_tree_bytes"`
	// Log is the file with a line for each attempt; empty if there is none.
	Log string `json:"log"`
}

// Check is how the work of a command was checked. ExitCode and Output are those of the last check, Output its end.
type Check struct {
	Command  string `json:"command"` // for the shell; empty for a function
	Rounds   int    `json:"rounds"`  // how often an agent was told that it is not done
	Passed   bool   `json:"passed"`
	ExitCode int    `json:"exit_code"` // -1 if it has none
	Output   string `json:"output"`
}

// Worktree is a git worktree that a command has worked in, and what has become of its work.
type Worktree struct {
	Path     string `json:"path"`
	Branch   string `json:"branch"`
	Base     string `json:"base"`      // the commit that it was made from
	State    string `json:"state"`     // done, landed, conflict, failed or interrupted
	LandedOn string `json:"landed_on"` // the branch; empty if it has not landed
	Commits  int    `json:"commits"`   // on Branch, since Base
	Files    int    `json:"files_changed"`
	Added    int    `json:"lines_added"`
	Deleted  int    `json:"lines_deleted"`
	// Saved are refs with what attempts have left that did not count.
	Saved []string `json:"saved"`
	// Nested are repositories in it, which no commit can have, and Kept says why a fresh start got another path.
	Nested []string `json:"nested"`
	Kept   []string `json:"kept"`
}

// Output is what a command has printed on one stream. It can be read as often as needed, by several goroutines. What is
// larger than 1 MiB is in a temporary file without a name, which goes with the process at the latest. A nil Output is empty.
type Output struct{ kept kept }

// kept is where an output is kept. Its reader begins at the beginning, and ends with an error if a part is missing.
type kept interface {
	io.ReaderAt
	io.Closer
	Size() int64
	Reader() io.Reader
}

// NewOutput is an output that is kept somewhere.
func NewOutput(in kept) *Output { return &Output{in} }

func (o *Output) isNone() bool { return o == nil || o.kept == nil }

// Size is how many bytes it holds.
func (o *Output) Size() int64 {
	if o.isNone() {
		return 0
	}
	return o.kept.Size()
}

// ReadAt implements [io.ReaderAt].
func (o *Output) ReadAt(p []byte, off int64) (n int, err error) {
	if o.isNone() {
		return 0, io.EOF
	}
	return o.kept.ReadAt(p, off)
}

// Reader reads it from the beginning.
func (o *Output) Reader() io.Reader {
	if o.isNone() {
		return bytes.NewReader(nil)
	}
	return o.kept.Reader()
}

// String is all of it.
func (o *Output) String() string {
	data, _ := io.ReadAll(o.Reader())
	return string(data)
}

// Close frees it: it then holds nothing.
func (o *Output) Close() error {
	if o.isNone() {
		return nil
	}
	return o.kept.Close()
}
