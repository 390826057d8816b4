package engine_test

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/engine/enginetest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// 2>&1 into one file: what is held must keep its order.
func TestTranscript_KeepsTheOrderOfTwoStreamsInOneFile(t *testing.T) {
	for name, tt := range map[string]struct {
		profile agent.Profile
		starts  int
	}{
		"of a plain command": {nil, 2},
		// What it says of its failure is in there: it was not sent, so that it can be repeated.
		"of one that changes something": {&enginetest.Caller{Person: true, Facts: agent.CallerInfo{Changes: true}}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, err := os.Create(filepath.Join(t.TempDir(), "out"))
				must.OK(t, err)
				defer f.Close()
				r := runner(t, retry.Policy{MaxRetries: 1})
				r.Profile = tt.profile
				s := script(r, steps(1, enginetest.Complain("network unsent\n")),
					steps(0, enginetest.Print("one\n"), enginetest.Complain("two\n"), enginetest.Print("three\n")))
				if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: f, Stderr: f}); err != nil {
					t.Error(err)
				}
				data, _ := os.ReadFile(f.Name())
				equal(t, "printed", string(data), "one\ntwo\nthree\n")
				equal(t, "starts", len(s.Starts()), tt.starts)
			})
		})
	}
}

// A file is handed over as it is where nothing is to be read of it.
func TestTranscript_HandsFilesOver(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	must.OK(t, err)
	defer f.Close()
	reads, err := generic.New(generic.Options{FailOn: "panic"})
	must.OK(t, err)
	for name, tt := range map[string]struct {
		runner engine.Runner
		over   bool
	}{
		"nothing is asked":         {engine.Runner{}, true},
		"it is to be kept":         {engine.Runner{Streams: engine.Streams{Keep: true}}, false},
		"it is watched for stalls": {engine.Runner{Limits: engine.Limits{Stall: time.Hour}}, false},
		"it may be repeated":       {engine.Runner{Policy: retry.Policy{MaxRetries: 1}}, false},
		"the verdict reads it":     {engine.Runner{Profile: reads}, false},
	} {
		t.Run(name, func(t *testing.T) {
			r := tt.runner
			s := script(&r, steps(0))
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: f, Stderr: f})
			if err != nil {
				t.Error(err)
			}
			equal(t, "handed over", s.Starts()[0].Spec.Stdout == io.Writer(f), tt.over)
			equal(t, "kept", res.Output != nil, r.Keep || r.Policy.MaxRetries > 0)
		})
	}
}

func TestTranscript_KeepsWhatItPassesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := runner(t, retry.Policy{})
		r.Keep = true
		script(r, steps(3, enginetest.Print("out\n"), enginetest.Complain("err\n")))
		var out, stderr bytes.Buffer
		res, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: &out, Stderr: &stderr})
		if res.Output.String() != "out\n" || out.String() != "out\n" || stderr.String() != "err\n" {
			t.Errorf("kept %q, printed %q and %q", res.Output, &out, &stderr)
		}
		contains(t, res.Error, "tool exited 3: err")
	})
}

// A rule of the caller's makes a failure of an exit code of 0, and says so.
func TestTranscript_OutputThatSaysItFailed(t *testing.T) {
	profile, err := generic.New(generic.Options{FailOn: "FATAL"})
	must.OK(t, err)
	for code, text := range map[int]string{0: "tool exited 0, but its output says that it failed: FATAL: no disk", 4: "tool exited 4, and its output says that it failed: FATAL: no disk"} {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 3})
			r.Profile = profile
			script(r, steps(code, enginetest.Print("FATAL: no disk\n")))
			res, err := r.Run(t.Context(), tool)
			if err == nil || res.ExitCode != max(code, 1) || res.Attempts != 1 {
				t.Errorf("exit code %d after %d attempts: %v", res.ExitCode, res.Attempts, err)
			}
			equal(t, "error", res.Error, text)
		})
	}
}

// A reader that goes away ends the command as it would without us, and is no failure of it.
func TestTranscript_ReaderGoesAway(t *testing.T) {
	t.Run("File", func(t *testing.T) {
		reader, writer, err := os.Pipe()
		must.OK(t, err)
		defer writer.Close()
		reader.Close()
		r := &engine.Runner{}
		script(r, steps(0, enginetest.Print("hello\n")))
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: writer})
		if err == nil || res.Verdict.Class != verdict.Interrupted || res.Verdict.Rule != "unread" || res.ExitCode != 128+int(syscall.SIGPIPE) {
			t.Errorf("exit code %d, %+v", res.ExitCode, res.Verdict)
		}
		equal(t, "error", res.Error, "tool was killed by SIGPIPE: its output is no longer read")
	})
	t.Run("Live", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := runner(t, retry.Policy{MaxRetries: 3})
			r.Stream = true
			s := script(r, steps(0, enginetest.Print("hello\n"), enginetest.Print("world\n")))
			out := &closedWriter{room: 6}
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: out})
			if err == nil || len(s.Starts()) != 1 || out.got.String() != "hello\n" {
				t.Errorf("%d starts, printed %q: %v", len(s.Starts()), &out.got, err)
			}
			contains(t, res.Error, "ts output is no longer read")
		})
	})
	t.Run("Held", func(t *testing.T) {
		for code, broken := range map[int]io.Writer{128 + int(syscall.SIGPIPE): &closedWriter{}, engine.CodeFailed: failing{}} {
			synctest.Test(t, func(t *testing.T) {
				r := runner(t, retry.Policy{MaxRetries: 3})
				script(r, steps(0, enginetest.Print("hello\n")))
				res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: broken})
				if err == nil || res.ExitCode != code || res.Success {
					t.Errorf("exit code %d, want %d: %v", res.ExitCode, code, err)
				}
				contains(t, res.Error, "cannot write the output: ")
				if log := entries(t, r); len(log) != 1 || *log[0].BelayCode != code {
					t.Errorf("on record: %+v", log)
				}
			})
		}
	})
}

// failing is a disk that is full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// noDisk makes it impossible to hold more than memory takes.
func noDisk(t *testing.T) { t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none")) }

var large = strings.Repeat(strings.Repeat("x", 1<<13)+"\n", 200) // 1.6 MiB: more than is held in memory

// What cannot be held is passed on: nothing is lost, but the attempt can no longer be taken back.
func TestTranscript_CannotBeHeld(t *testing.T) {
	noDisk(t)
	t.Run("IsPassedOn", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &engine.Runner{Policy: retry.Policy{MaxRetries: 3}}
			s := script(r, steps(1, enginetest.Print(large[:1<<19]), enginetest.Print(large[1<<19:]), enginetest.Print("more\n")))
			var out bytes.Buffer
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: &out})
			if err == nil || len(s.Starts()) != 1 || out.String() != large+"more\n" {
				t.Errorf("%d starts, %d bytes: %v", len(s.Starts()), out.Len(), err)
			}
			contains(t, res.Error, "Its output could not be held back any longer and was passed on")
		})
	})
	t.Run("ToAReaderThatIsGone", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &engine.Runner{Policy: retry.Policy{MaxRetries: 3}}
			s := script(r, steps(1, enginetest.Print(large[:1<<19]), enginetest.Print(large)))
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: &closedWriter{room: 100}})
			if err == nil || len(s.Starts()) != 1 {
				t.Errorf("%d starts: %v", len(s.Starts()), err)
			}
			contains(t, res.Error, "ts output is no longer read")
		})
	})
	t.Run("OfAnAgent", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &engine.Runner{Profile: &enginetest.Agent{Plans: func(agent.Turn) agent.Plan { return agent.Plan{Args: []string{"claude"}, Plain: true} }}}
			script(r, steps(0, enginetest.Print(large), enginetest.Print("more\n")))
			var out bytes.Buffer
			if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude"}, Stdout: &out}); err != nil || out.String() != large+"more\n" {
				t.Errorf("%d bytes: %v", out.Len(), err)
			}
		})
	})
	t.Run("ButIsTheResult", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &engine.Runner{Profile: &enginetest.Agent{Plans: func(agent.Turn) agent.Plan { return agent.Plan{Args: []string{"claude"}, Plain: true} }}}
			script(r, steps(0, enginetest.Print(large[:1000]), enginetest.Print(large), enginetest.Print("more\n")))
			res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"claude"}})
			if want := large[:1000] + large + "more"; err != nil || res.Output.String() != want {
				t.Errorf("%d bytes: %v", res.Output.Size(), err)
			}
		})
	})
}

// Where the output has no other place than the result, the result has all of it or is a failure: a part is never taken for all.
func TestTranscript_WholeOrFailed(t *testing.T) {
	noDisk(t)
	tooMuch := steps(0, enginetest.Print(large), enginetest.Print(strings.Repeat(large, 41))) // 66 MiB: more than memory takes as well
	t.Run("WholeWithRetries", func(t *testing.T) {
		r := &engine.Runner{Policy: retry.Policy{MaxRetries: 1}}
		script(r, steps(0, enginetest.Print(large), enginetest.Print(large), enginetest.Print("end")))
		res, err := r.Run(t.Context(), tool)
		if want := large + large + "end"; err != nil || res.Output.String() != want {
			t.Errorf("%d bytes of %d: %v", res.Output.Size(), len(want), err)
		}
	})
	t.Run("WholeOfAFailure", func(t *testing.T) {
		r := &engine.Runner{}
		script(r, steps(3, enginetest.Print(large), enginetest.Print("end")))
		res, err := r.Run(t.Context(), tool)
		if want := large + "end"; err == nil || res.ChildCode != 3 || res.Output.String() != want {
			t.Errorf("%d bytes of %d, %d: %v", res.Output.Size(), len(want), res.ChildCode, err)
		}
	})
	t.Run("Failed", func(t *testing.T) {
		r := &engine.Runner{Policy: retry.Policy{MaxRetries: 3}}
		s := script(r, tooMuch)
		res, err := r.Run(t.Context(), tool)
		if err == nil || res.Success || res.ExitCode == 0 || res.Output != nil || len(s.Starts()) != 1 {
			t.Errorf("%d starts, exit code %d, %d bytes: %v", len(s.Starts()), res.ExitCode, res.Output.Size(), err)
		}
		contains(t, res.Error, "the output of tool could not be kept: ")
	})
	t.Run("ACopyIsNotWrittenAsResult", func(t *testing.T) {
		r := &engine.Runner{Streams: engine.Streams{Keep: true}}
		script(r, tooMuch)
		var out countingWriter
		res, err := r.Run(t.Context(), belaytype.Command{Args: []string{"tool"}, Stdout: &out})
		if err != nil || int(out) != 42*len(large) {
			t.Errorf("%d bytes were passed on: %v", out, err)
		}
		if err := res.WriteJSON(io.Discard); err == nil {
			t.Error("a part of the output was written as the result")
		}
	})
}

// countingWriter counts bytes.
type countingWriter int

func (w *countingWriter) Write(p []byte) (int, error) {
	*w += countingWriter(len(p))
	return len(p), nil
}

// Output can be read from anywhere, as often as needed, wherever it is kept.
func TestOutput_Reads(t *testing.T) {
	for name, print := range map[string][]string{"in memory": {"hello, ", "world"}, "on disk": {large, "hello, ", "world"}, "as one piece": {large + "hello, world"}} {
		t.Run(name, func(t *testing.T) {
			r := &engine.Runner{}
			var list []enginetest.Step
			for _, text := range print {
				list = append(list, enginetest.Print(text))
			}
			script(r, steps(0, list...))
			res, err := r.Run(t.Context(), tool)
			must.OK(t, err)
			o, want := res.Output, strings.Join(print, "")
			if o.Size() != int64(len(want)) || o.String() != want || o.String() != want {
				t.Errorf("%d bytes", o.Size())
			}
			p := make([]byte, 5)
			if n, err := o.ReadAt(p, o.Size()-5); n != 5 || err != nil || string(p) != "world" {
				t.Errorf("%q, %v", p[:n], err)
			}
			if n, err := o.ReadAt(p, o.Size()-3); n != 3 || err != io.EOF || string(p[:n]) != "rld" {
				t.Errorf("%q, %v", p[:n], err)
			}
			if n, err := o.ReadAt(p, o.Size()+3); n != 0 || err != io.EOF {
				t.Errorf("%d, %v", n, err)
			}
			if _, err := o.ReadAt(p, -1); err != fs.ErrInvalid {
				t.Error(err)
			}
			o.Close()
			if o.Size() != 0 || o.String() != "" {
				t.Errorf("%d bytes are left", o.Size())
			}
		})
	}
	var none *engine.Output
	if none.Size() != 0 || none.String() != "" || none.Close() != nil {
		t.Error("nothing is something")
	}
}

// A writer that fails is told of, wherever that is.
func TestResult_JSONCannotBeWritten(t *testing.T) {
	r := &engine.Runner{}
	script(r, enginetest.Attempt{Steps: []enginetest.Step{enginetest.Print(strings.Repeat("hello € ", 10000))}})
	res, err := r.Run(t.Context(), tool)
	must.OK(t, err)
	var whole bytes.Buffer
	must.OK(t, res.WriteJSON(&whole))
	for _, room := range []int{0, 1, 100, 200, 30_000, 70_000, whole.Len() - 300, whole.Len() - 1} {
		if err := res.WriteJSON(&closedWriter{room: room}); err == nil {
			t.Errorf("no error after %d bytes", room)
		}
	}
}

// One writer for both streams is written to by one goroutine at a time, as it is with os/exec. The race detector watches.
func TestTranscript_OneWriterForBothStreams(t *testing.T) {
	for name, r := range map[string]*engine.Runner{"of a plain command": {}, "that is passed on live": {Streams: engine.Streams{Stream: true}, Policy: retry.Policy{MaxRetries: 1}}} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			c := sh("i=0; while [ $i -lt 50 ]; do echo out; echo err >&2; i=$((i+1)); done")
			c.Stdout, c.Stderr = &out, &out
			if _, err := r.Run(t.Context(), c); err != nil || strings.Count(out.String(), "out\n") != 50 || strings.Count(out.String(), "err\n") != 50 {
				t.Errorf("%d bytes, %v", out.Len(), err)
			}
		})
	}
	// What cannot be compared is no less a writer.
	var texts [][]byte
	write := writeTo(func(p []byte) { texts = append(texts, p) })
	c := sh("echo out")
	c.Stdout, c.Stderr = write, write
	if _, err := new(engine.Runner).Run(t.Context(), c); err != nil || len(texts) != 1 {
		t.Errorf("%q, %v", texts, err)
	}
}

type writeTo func([]byte)

func (w writeTo) Write(p []byte) (int, error) {
	w(bytes.Clone(p))
	return len(p), nil
}
