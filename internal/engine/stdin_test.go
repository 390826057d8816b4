package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// What an agent reads is there before it is started, and the same for all attempts.
func TestStdin_IsReadOnceForAllAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		var read []string
		echo := func(code int) enginetest.Attempt { return steps(code, enginetest.Read(false)) }
		r.Profile.(*enginetest.Agent).Turns = func(turn agent.Turn) { read = append(read, string(turn.Stdin)) }
		script(r, echo(1), echo(0))
		r.Judge = func(own verdict.Verdict, o verdict.Outcome, _ time.Time) verdict.Verdict {
			if o.ExitCode == 1 {
				return of(verdict.Overloaded)
			}
			return own
		}
		c := claude
		c.Stdin = strings.NewReader("the question")
		if _, err := r.Run(t.Context(), c); err != nil || len(read) != 2 || read[0] != "the question" || read[1] != read[0] {
			t.Errorf("%q, %v", read, err)
		}
	})
}

func TestStdin_Awaited(t *testing.T) {
	for name, tt := range map[string]struct {
		traits  agent.Info
		timeout time.Duration
		write   func(w *io.PipeWriter)
		started time.Duration // when the agent is; -1 if never
		stdin   string
		silent  []belaytype.StdinSilent
		code    int
		text    string
	}{
		"slow": {write: func(w *io.PipeWriter) {
			io.WriteString(w, "one ")
			time.Sleep(time.Hour)
			io.WriteString(w, "two")
			w.Close()
		}, started: time.Hour, stdin: "one two"},
		"silent, with a prompt": {traits: agent.Info{HasPrompt: true}, write: func(*io.PipeWriter) {}, started: 10 * time.Second,
			silent: []belaytype.StdinSilent{{For: 10 * time.Second}}},
		"silent, with a prompt and less patience": {traits: agent.Info{HasPrompt: true, Silence: 3 * time.Second}, write: func(*io.PipeWriter) {}, started: 3 * time.Second,
			silent: []belaytype.StdinSilent{{For: 3 * time.Second}}},
		"silent, with a prompt and less time than that": {traits: agent.Info{HasPrompt: true}, timeout: 2 * time.Second, write: func(*io.PipeWriter) {}, started: 2 * time.Second,
			silent: []belaytype.StdinSilent{{For: 2 * time.Second}}},
		"silent for long, where it is the prompt": {write: func(w *io.PipeWriter) {
			time.Sleep(time.Hour)
			io.WriteString(w, "late")
			w.Close()
		}, started: time.Hour, stdin: "late", silent: []belaytype.StdinSilent{{For: 10 * time.Second, Awaited: true}}},
		"without an end": {timeout: time.Minute, write: func(w *io.PipeWriter) { io.WriteString(w, "and then") }, started: -1, code: engine.CodeTimeout,
			text: "stdin did not end within the timeout (60 s), so claude was not started"},
		"without an end, with a prompt": {traits: agent.Info{HasPrompt: true}, timeout: time.Minute, write: func(w *io.PipeWriter) { io.WriteString(w, "and then") }, started: -1,
			code: engine.CodeTimeout, text: "stdin did not end within the timeout"},
		"too large": {traits: agent.Info{MaxInput: 10}, write: func(w *io.PipeWriter) { io.WriteString(w, "01234567890") }, started: -1, code: engine.CodeUsage,
			text: "stdin has more than the 10 bytes that claude accepts. Put the text in a file and name that file in the prompt"},
		"just large enough": {traits: agent.Info{MaxInput: 10}, write: func(w *io.PipeWriter) {
			io.WriteString(w, "0123456789")
			w.Close()
		}, stdin: "0123456789"},
		"broken":  {write: func(w *io.PipeWriter) { w.CloseWithError(errBroken) }, started: -1, code: engine.CodeUsage, text: "cannot read stdin: the disk is on fire"},
		"empty":   {write: func(w *io.PipeWriter) { w.Close() }},
		"ignored": {traits: agent.Info{NoInput: true}, write: func(*io.PipeWriter) {}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := agentRunner(tt.traits)
				r.Policy.Timeout = tt.timeout
				w := observe(r)
				stdin := ""
				r.Profile.(*enginetest.Agent).Turns = func(turn agent.Turn) { stdin = string(turn.Stdin) }
				s := script(r, steps(0, enginetest.Read(false)))
				reader, writer := io.Pipe()
				defer writer.Close()
				go tt.write(writer)
				c := claude
				c.Stdin = reader
				begin := time.Now()
				res, err := r.Run(t.Context(), c)
				equal(t, "exit code", res.ExitCode, tt.code)
				contains(t, res.Error, tt.text)
				starts := s.Starts()
				if tt.started < 0 && (len(starts) != 0 || err == nil) || tt.started >= 0 && (len(starts) != 1 || starts[0].At.Sub(begin) != tt.started) {
					t.Errorf("%d starts: %v", len(starts), err)
				}
				equal(t, "stdin", stdin, tt.stdin)
				equalLists(t, "told", all[belaytype.StdinSilent](w), tt.silent)
				if tt.code == engine.CodeTimeout && (res.Verdict.Class != verdict.Timeout || res.Verdict.Rule != "stdin" || !errors.Is(err, retry.ErrTimeout)) {
					t.Errorf("%+v, %v", res.Verdict, err)
				}
			})
		})
	}
}

func TestStdin_CancelledWhileAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := agentRunner(agent.Info{})
		s := script(r, steps(0))
		reader, writer := io.Pipe()
		c := claude
		c.Stdin = reader
		inv := start(t, r, c)
		time.Sleep(time.Minute)
		inv.Cancel(context.Canceled)
		res, err := inv.Wait()
		if len(s.Starts()) != 0 || res.Duration != time.Minute || res.ExitCode != 143 || !errors.Is(err, context.Canceled) {
			t.Errorf("exit code %d after %v: %v", res.ExitCode, res.Duration, err)
		}
		// What comes later is not waited for to its end.
		io.WriteString(writer, "late")
		synctest.Wait()
		writer.Close()
	})
}

// A terminal, or the null device, is no input.
func TestStdin_OfADevice(t *testing.T) {
	null, err := os.Open(os.DevNull)
	must.OK(t, err)
	closed, err := os.Open(filepath.Join(t.TempDir()))
	must.OK(t, err)
	defer null.Close()
	closed.Close()
	for _, f := range []*os.File{null, closed} {
		r := agentRunner(agent.Info{})
		s := script(r, steps(0))
		c := claude
		c.Stdin = f
		if _, err := r.Run(t.Context(), c); err != nil || s.Starts()[0].Spec.Stdin != nil {
			t.Error(err)
		}
	}
}

func TestStdin_OfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	must.OK(t, os.WriteFile(path, []byte("the question"), 0o600))
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	r := agentRunner(agent.Info{})
	var out bytes.Buffer
	script(r, steps(0, enginetest.Read(true)))
	c := claude
	c.Stdin, c.Stdout = f, &out
	if _, err := r.Run(t.Context(), c); err != nil || out.String() != "the question" {
		t.Errorf("%q, %v", &out, err)
	}
}

// What a plain command reads: its caller's file, or what a reader gives.
func TestStdin_OfAPlainCommand(t *testing.T) {
	null, err := os.Open(os.DevNull)
	must.OK(t, err)
	defer null.Close()
	prompt := "the question"
	for name, tt := range map[string]struct {
		retries int
		command belaytype.Command
		same    bool
		want    string
	}{
		"the caller's file":             {command: belaytype.Command{Stdin: null}, same: true},
		"the null device, with retries": {retries: 1, command: belaytype.Command{Stdin: null}, same: true},
		"a reader":                      {command: belaytype.Command{Stdin: strings.NewReader("the question")}, want: "the question"},
		"a prompt in its place":         {command: belaytype.Command{Stdin: null, Prompt: &prompt}, want: "the question"},
		"a reader that fails":           {command: belaytype.Command{Stdin: io.MultiReader(strings.NewReader("the "), iotest.ErrReader(errBroken))}, want: "the "},
	} {
		t.Run(name, func(t *testing.T) {
			r := &engine.Runner{Policy: retry.Policy{MaxRetries: tt.retries}}
			s := script(r, steps(0, enginetest.Read(true)))
			c := tt.command
			c.Args = []string{"tool"}
			res, err := r.Run(t.Context(), c)
			if err != nil || res.Output.String() != tt.want || (s.Starts()[0].Spec.Stdin == null) != tt.same {
				t.Errorf("%q, %v", res.Output, err)
			}
		})
	}
}

// A prompt arrives whole at every attempt, whatever its length: a short one is in the pipe before the command starts. A command that reads none of it
// is none the worse.
func TestStdin_PromptOfAnyLength(t *testing.T) {
	for _, size := range []int{0, 1, 4095, 4096, 4097, 64 << 10, 1 << 20} {
		prompt := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		r := &engine.Runner{Policy: retry.Policy{MaxRetries: 1, BaseDelay: time.Millisecond}}
		file := filepath.Join(t.TempDir(), "first")
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"sh", "-c", `cat; test -e "$0" || { >"$0"; exit 1; }`, file}, Prompt: &prompt})
		if err != nil || res.Attempts != 2 || res.Output.String() != prompt {
			t.Errorf("%d bytes: %v after %d attempts, %d bytes came", size, err, res.Attempts, res.Output.Size())
		}
		if res, err := (&engine.Runner{}).Run(t.Context(), belaytype.Command{Args: []string{"true"}, Prompt: &prompt}); err != nil || !res.Success {
			t.Errorf("%d bytes that are not read: %v", size, err)
		}
	}
}
