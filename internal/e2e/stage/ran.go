//go:build linux

package stage

import (
	"regexp"
	"strings"
	"time"
)

// Result is what --result-file says.
type Result struct {
	Success   bool
	Result    string
	Errors    []string
	Error     string
	ErrorType string `json:"error_type"`
	Retryable bool
	RetryAt   string `json:"retry_at"`
	SessionID string `json:"session_id"`
	Fallback  string
	Resumed   bool
	Usage     struct {
		Input  int      `json:"input_tokens"`
		Output int      `json:"output_tokens"`
		Cost   *float64 `json:"total_cost_usd"`
		// Estimated says that the cost comes from the price list, Unknown that more was used.
		Estimated, Unknown bool
	}
	Attempts int
	Requests int     // that the CLI has told of
	Waited   float64 `json:"total_wait_time"`
	ExitCode int     `json:"exit_code"`
	Child    *int    `json:"child_exit_code"`
	Killed   int     `json:"orphans_killed"`
	Log      string
}

// Ran is a command that has ended.
type Ran struct {
	*Stage
	Code           int
	Stdout, Stderr string
	Result         *Result // nil if there is no result file
	Took           time.Duration
}

// Exits checks the exit code.
func (r *Ran) Exits(code int) {
	r.T.Helper()
	if r.Code != code {
		r.T.Errorf("exit code %d, want %d", r.Code, code)
	}
	if r.Result != nil && r.Result.ExitCode != code {
		r.T.Errorf("the result says exit code %d, want %d", r.Result.ExitCode, code)
	}
}

// Is checks what the result says: the class (empty for a success) and the number of attempts.
func (r *Ran) Is(class string, attempts int) {
	r.T.Helper()
	if r.Result == nil {
		r.T.Fatalf("there is no result file\n%s", r.Stderr)
	}
	if r.Result.ErrorType != class || r.Result.Success != (class == "") {
		r.T.Errorf("%q, success %v; want %q", r.Result.ErrorType, r.Result.Success, class)
	}
	if r.Result.Attempts != attempts {
		r.T.Errorf("%d attempts, want %d", r.Result.Attempts, attempts)
	}
}

// Prints checks the whole of stdout.
func (r *Ran) Prints(want string) {
	r.T.Helper()
	if r.Stdout != want {
		r.T.Errorf("stdout is %.500q, want %.500q", r.Stdout, want)
	}
}

// Says checks that stderr has these words.
func (r *Ran) Says(words ...string) {
	r.T.Helper()
	for _, w := range words {
		if !strings.Contains(r.Stderr, w) {
			r.T.Errorf("stderr has no %q", w)
		}
	}
}

// Used checks the tokens in the result.
func (r *Ran) Used(input, output int) {
	r.T.Helper()
	if u := r.Result.Usage; u.Input != input || u.Output != output {
		r.T.Errorf("%d tokens in, %d out; want %d, %d", u.Input, u.Output, input, output)
	}
}

// ResetsAt checks that it is a usage limit, and that the time to come back is that of its reset, which the agent tells by
// the second or by the minute.
func (r *Ran) ResetsAt(in, precision time.Duration) {
	r.T.Helper()
	late := 5 * time.Second
	if precision == time.Minute {
		late = 2 * time.Minute
	}
	at, err := time.Parse(time.RFC3339, r.Result.RetryAt)
	want := r.API.Main()[0].At.Add(in).Truncate(precision)
	if err != nil || at.Before(want) || at.After(want.Add(late)) {
		r.T.Errorf("to be tried again at %q, the limit resets at %v", r.Result.RetryAt, want.UTC())
	}
	r.Says(" hit its usage limit, which resets at ")
	if r.Result.Retryable {
		r.T.Error("a back-off does not help")
	}
}

// IsUUID reports whether that is the id of a session.
var IsUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString
