package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

func quick(t *testing.T, retries int) *engine.Runner {
	return &engine.Runner{State: &state.State{Dir: filepath.Join(t.TempDir(), "state")},
		Policy: retry.Policy{MaxRetries: retries, BaseDelay: time.Millisecond, MaxDelay: time.Millisecond}}
}

func sh(script string, args ...string) belaytype.Command {
	return belaytype.Command{Args: append([]string{"sh", "-c", script, "sh"}, args...)}
}

func TestRun_KeepsOutputInTheResult(t *testing.T) {
	r := quick(t, 0)
	res, err := r.Run(t.Context(), sh("echo out; echo err >&2"))
	if err != nil || res.Output.String() != "out\n" || res.ExitCode != 0 || res.Attempts != 1 {
		t.Errorf("%q, %+v, %v", res.Output.String(), res, err)
	}
}

// Scenario 120 of seed 000: no shell ever sees the arguments.
func TestRun_PassesArgumentsLiterally(t *testing.T) {
	nasty := "a b; $(touch pwned) `id` * \"'\\ \n && |"
	res, err := quick(t, 0).Run(t.Context(), belaytype.Command{Args: []string{"printf", "%s", nasty}, Dir: t.TempDir()})
	if err != nil || res.Output.String() != nasty {
		t.Errorf("%q, %v", res.Output.String(), err)
	}
}

func TestRun_RepeatsAndDeliversOnlyWhatCounts(t *testing.T) {
	counter := filepath.Join(t.TempDir(), "n")
	c := sh(`echo x >> "$1"; n=$(wc -l < "$1"); echo "out $n"; echo "err $n" >&2; [ "$n" -ge 3 ]`, counter)
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	res, err := quick(t, 5).Run(t.Context(), c)
	if err != nil || res.Attempts != 3 || len(res.Errors) != 2 {
		t.Errorf("%+v, %v", res, err)
	}
	if strings.TrimSpace(stdout.String()) != "out 3" || strings.TrimSpace(stderr.String()) != "err 3" {
		t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
	}
}

func TestRun_ErrorsCanBeTakenApart(t *testing.T) {
	r := quick(t, 2)
	res, err := r.Run(t.Context(), sh("echo 'no luck' >&2; exit 9"))
	var e *belaytype.Error
	if !errors.As(err, &e) || !errors.Is(err, retry.ErrExhausted) || e.Verdict.Class != verdict.Unknown || res.ExitCode != 9 {
		t.Errorf("%v, %+v", err, res)
	}
	if !strings.Contains(e.Error(), "no luck") {
		t.Errorf("message %q", e)
	}
	res, err = r.Run(t.Context(), belaytype.Command{Args: []string{"/no/such/command"}})
	if !errors.As(err, &e) || e.Verdict.Class != verdict.ToolMissing || res.ExitCode != engine.CodeNotFound || res.Attempts != 0 {
		t.Errorf("%v, %+v", err, res)
	}
	for _, c := range []belaytype.Command{{}, {Args: []string{""}}, {Args: []string{"true"}, Dir: "/no/such/dir"},
		{Args: []string{"true"}, Dir: "/etc/passwd"}, {Args: []string{"a\x00b"}}, {Args: []string{"echo", strings.Repeat("x", 131072)}}} {
		var u *belaytype.UsageError
		if res, err := r.Run(t.Context(), c); !errors.As(err, &u) || res.ExitCode != engine.CodeUsage {
			t.Errorf("%.40q: %v", c.Args, err)
		}
	}
}

func TestRun_EndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r := quick(t, 3)
	r.Observe = func(e belaytype.Event) {
		if _, ok := e.(belaytype.AttemptStarted); ok {
			cancel()
		}
	}
	begin := time.Now()
	res, err := r.Run(ctx, sh("sleep 300 & sleep 300"))
	if !errors.Is(err, context.Canceled) || res.Verdict.Class != verdict.Interrupted || res.Attempts != 1 {
		t.Errorf("%v, %+v", err, res)
	}
	if took := time.Since(begin); took > 2*time.Minute {
		t.Errorf("took %v", took)
	}
}

func TestRun_Input(t *testing.T) {
	// Fails until it has been started three times; prints what it reads in the end.
	const stubborn = `echo x >> "$1"; [ "$(wc -l < "$1")" -ge 3 ] || exit 1; cat`
	const greedy = `echo x >> "$1"; cat; [ "$(wc -l < "$1")" -ge 3 ]`
	file := func(t *testing.T, text string) *os.File {
		path := filepath.Join(t.TempDir(), "in")
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
		f, err := os.Open(path)
		must.OK(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	pipe := func(t *testing.T, text string) *os.File {
		r, w, err := os.Pipe()
		must.OK(t, err)
		go func() {
			w.WriteString(text)
			w.Close()
		}()
		t.Cleanup(func() { r.Close() })
		return r
	}
	large := strings.Repeat("0123456789abcdef", 1<<17) // 2 MiB: more than memory holds of it
	tests := map[string]struct {
		script   string
		stdin    func(*testing.T) *os.File
		prompt   string
		replay   bool
		attempts int
		output   string
	}{
		"a file that is not read stays whole": {stubborn, func(t *testing.T) *os.File { return file(t, "text") }, "", false, 3, "text"},
		"a pipe that is not read stays whole": {stubborn, func(t *testing.T) *os.File { return pipe(t, "text") }, "", false, 3, "text"},
		"a file that was read is the end":     {greedy, func(t *testing.T) *os.File { return file(t, "text") }, "", false, 1, "text"},
		"a pipe that was read is the end":     {greedy, func(t *testing.T) *os.File { return pipe(t, "text") }, "", false, 1, "text"},
		"a file is given again":               {greedy, func(t *testing.T) *os.File { return file(t, "text") }, "", true, 3, "text"},
		"a pipe is given again":               {greedy, func(t *testing.T) *os.File { return pipe(t, "text") }, "", true, 3, "text"},
		"a large pipe is given again":         {greedy, func(t *testing.T) *os.File { return pipe(t, large) }, "", true, 3, large},
		"a large pipe is no longer kept":      {greedy, func(t *testing.T) *os.File { return pipe(t, large) }, "", false, 1, large},
		"a large pipe nobody reads":           {stubborn, func(t *testing.T) *os.File { return pipe(t, large) }, "", false, 3, large},
		"a prompt is given to every attempt":  {greedy, nil, "-/question", false, 3, "-/question"},
		"a large prompt nobody reads":         {stubborn, nil, large, false, 3, large},
		"no input is no reason not to repeat": {greedy, nil, "", false, 3, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := sh(tt.script, filepath.Join(t.TempDir(), "n"))
			if tt.stdin != nil {
				c.Stdin = tt.stdin(t)
			}
			if tt.prompt != "" {
				c.Prompt = &tt.prompt
			}
			r := quick(t, 5)
			r.ReplayStdin = tt.replay
			var out bytes.Buffer
			c.Stdout = &out
			res, err := r.Run(t.Context(), c)
			if res.Attempts != tt.attempts || out.String() != tt.output {
				t.Errorf("%d attempts, %d bytes of output, want %d and %d (%v)", res.Attempts, out.Len(), tt.attempts, len(tt.output), err)
			}
			if tt.attempts == 1 && !strings.Contains(res.Error, "cannot be repeated") {
				t.Errorf("message %q", res.Error)
			}
		})
	}
}

func TestRun_StreamsWhenAsked(t *testing.T) {
	r := quick(t, 1)
	r.Stream = true
	var out bytes.Buffer
	c := sh("echo again; exit 1")
	c.Stdout = &out
	if r.Run(t.Context(), c); out.String() != "again\nagain\n" {
		t.Errorf("%q", &out)
	}
}

func TestRun_HeldOutputLargerThanMemory(t *testing.T) {
	r := quick(t, 1)
	var out bytes.Buffer
	c := sh("head -c 5000000 /dev/zero | tr '\\0' x")
	c.Stdout = &out
	if _, err := r.Run(t.Context(), c); err != nil || out.Len() != 5_000_000 || strings.Trim(out.String(), "x") != "" {
		t.Errorf("%d bytes, %v", out.Len(), err)
	}
	left, err := os.ReadDir(r.State.Dir)
	if err != nil || len(left) != 3 { // the log, the directory of the records, and when it was last swept
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestResult_JSON(t *testing.T) {
	keys := []string{"schema_version", "id", "success", "result", "errors", "error", "error_type", "retryable", "retry_at", "sent",
		"session_id", "resumed", "fallback", "usage", "duration_ms", "attempts", "total_wait_time", "profile", "exit_code",
		"orphans_killed", "log", "provider", "model", "http_status"}
	for name, c := range map[string]belaytype.Command{
		"success":   sh(`printf 'a"\\\n\001\377é€𝄞'`),
		"failure":   sh("echo x; exit 3"),
		"not found": {Args: []string{"/no/such/command"}},
		"wrong":     {Args: []string{"true"}, Dir: "/no/such/dir"},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := quick(t, 0).Run(t.Context(), c)
			var b bytes.Buffer
			must.OK(t, res.WriteJSON(&b))
			var m map[string]any
			if err := json.Unmarshal(b.Bytes(), &m); err != nil {
				t.Fatalf("%v in %s", err, &b)
			}
			for _, k := range keys {
				if _, ok := m[k]; !ok {
					t.Errorf("no %s", k)
				}
			}
			if want := "a\"\\\n\x01\uFFFDé€𝄞"; name == "success" && m["result"] != want {
				t.Errorf("result %q, want %q", m["result"], want)
			}
			if strings.Count(b.String(), "\n") != 1 {
				t.Error("not one line")
			}
		})
	}
}

// A character must not be cut where the output is written in pieces.
func TestResult_JSONOfLongOutput(t *testing.T) {
	res, err := quick(t, 0).Run(t.Context(), sh(`printf x; i=0; while [ $i -lt 40 ]; do printf '%01000d' 0 | sed 's/0/€/g'; printf '%01000d' 0 | sed 's/0/𝄞/g'; i=$((i+1)); done`))
	must.OK(t, err)
	var b bytes.Buffer
	must.OK(t, res.WriteJSON(&b))
	var m struct{ Result string }
	if err := json.Unmarshal(b.Bytes(), &m); err != nil || m.Result != res.Output.String() || len(m.Result) < 280_000 {
		t.Errorf("%d bytes, %v", len(m.Result), err)
	}
}
