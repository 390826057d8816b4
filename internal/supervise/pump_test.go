//go:build linux

package supervise_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// counter takes in what comes and keeps only its length and sum.
type counter struct {
	n   int64
	sum hash.Hash
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.sum.Write(p)
}

func TestStreams_ArriveWhole(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		n      int64
	}{
		"Nothing":  {"", 0},
		"Byte":     {"printf x", 1},
		"Pipeful":  {"head -c 262144 /dev/zero", 256 << 10},
		"LongLine": {"head -c 16777216 /dev/zero | tr '\\0' x", 16 << 20},
		"100MB":    {"head -c 100000000 /dev/zero", 100_000_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := shell("(" + tt.script + " || :) | tee /dev/stderr")
			out, err := &counter{sum: sha256.New()}, &counter{sum: sha256.New()}
			spec.Stdout, spec.Stderr = out, err
			if tt.script == "" {
				spec.Args[2] = ":"
			}
			if exit := run(t, spec, nil); exit.Code != 0 {
				t.Errorf("it exited %d", exit.Code)
			}
			if out.n != tt.n || err.n != tt.n {
				t.Errorf("%d and %d bytes have arrived, want %d", out.n, err.n, tt.n)
			}
			if a, b := out.sum.Sum(nil), err.sum.Sum(nil); !bytes.Equal(a, b) {
				t.Errorf("%x on stdout, %x on stderr", a, b)
			}
		})
	}
}

// writer is a function that is written to.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// A writer that fails ends the command as a closed pipe would without us.
func TestStreams_WriteErrorIsBrokenPipe(t *testing.T) {
	t.Parallel()
	spec := supervise.Spec{Path: "/usr/bin/yes", Args: []string{"yes"}, RunID: newID(), Timeout: testTimeout}
	spec.Stdout = writer(func([]byte) (int, error) { return 0, errors.New("full") })
	if exit := run(t, spec, nil); exit.Signal != syscall.SIGPIPE || exit.Reason != supervise.Exited {
		t.Errorf("%+v, want SIGPIPE", exit)
	}
}

// A consumer that is slower than the command loses nothing, also what was written just before the end.
func TestStreams_SlowConsumer(t *testing.T) {
	t.Parallel()
	var got bytes.Buffer
	spec := shell("seq 100000; echo last")
	spec.Stdout = writer(func(p []byte) (int, error) {
		time.Sleep(20 * time.Millisecond)
		return got.Write(p)
	})
	run(t, spec, nil)
	if !strings.HasSuffix(got.String(), "100000\nlast\n") || got.Len() != 588895+5 {
		t.Errorf("%d bytes, at the end %q", got.Len(), got.String()[max(0, got.Len()-20):])
	}
}

// A program that writes to a pipe without waiting, as Node does, and exits at once, loses what does not fit into the pipe. Ours has room for 256 KiB: four times what
// pipes have.
func TestStreams_BurstBeforeExit(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]time.Duration{"Prompt": 0, "Slow": 50 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			cmd := helper("burst")
			spec := supervise.Spec{Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, RunID: newID(), Stderr: os.Stderr}
			spec.Stdout = writer(func(p []byte) (int, error) {
				time.Sleep(before)
				return got.Write(p)
			})
			if exit := run(t, spec, nil); exit.Code != 0 || got.Len() != 256<<10 {
				t.Errorf("exit code %d, %d bytes", exit.Code, got.Len())
			}
		})
	}
}

func init() {
	helpers["burst"] = func([]string) {
		syscall.SetNonblock(1, true)
		if n, err := syscall.Write(1, make([]byte, 256<<10)); n != 256<<10 {
			fmt.Fprintln(os.Stderr, n, err)
			os.Exit(1)
		}
	}
}

// What was written in the instant before the end is in the pipe when the end is noticed. This is the race that a
// deadline set too late would lose.
func TestStreams_LastWords(t *testing.T) {
	t.Parallel()
	for range rounds(t) * 10 {
		var out, err bytes.Buffer
		spec := shell("echo out; echo err >&2; echo last")
		spec.Stdout, spec.Stderr = &out, &err
		if run(t, spec, nil); out.String() != "out\nlast\n" || err.String() != "err\n" {
			t.Fatalf("%q and %q have arrived", &out, &err)
		}
	}
}

// A process that stays behind and holds the pipe open does not hang Run, whether or not it goes on writing; and what the
// command has written is not lost.
func TestStreams_HeldByStranger(t *testing.T) {
	t.Parallel()
	for name, stranger := range map[string]string{
		"Silent":     "sleep 300",
		"NeverQuiet": "while :; do echo more; sleep 0.02; done",
		"Flood":      "yes",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head, n := []byte{}, 0
			spec := shell(`setsid sh -c ': > "$0"; ` + stranger + `' "$1" & while [ ! -e "$1" ]; do sleep 0.01; done; head -c 200000 /dev/zero; echo`)
			spec.Args = append(spec.Args, filepath.Join(t.TempDir(), "up"))
			spec.Stdout = writer(func(p []byte) (int, error) {
				n += bytes.Count(p, []byte{0})
				head = append(head, p[:min(len(p), 10)]...)
				return len(p), nil
			})
			var p *supervise.Process
			exit := run(t, spec, func(q *supervise.Process) { p = q })
			if exit.Duration > 2*time.Minute || exit.Code != 0 {
				t.Errorf("%+v", exit)
			}
			if n != 200000 {
				t.Errorf("%d bytes of the command have arrived", n)
			}
			// It has left the group, and a library does not look for such: only the pipe shows it. (A process
			// that writes to a pipe that we have closed may have ended.)
			if name == "Silent" && len(exit.Left) == 0 {
				t.Error("nobody is said to be left")
			}
			p.EndTree()
			noneLeft(t, spec.RunID)
		})
	}
}

// What is written to both streams in turn arrives in turn if both go to one place.
func TestStreams_OneWriterKeepsTheOrder(t *testing.T) {
	t.Parallel()
	var both bytes.Buffer
	spec := shell(`i=0; while [ $i -lt 500 ]; do echo $i; echo $i >&2; i=$((i+1)); done`)
	spec.Stdout, spec.Stderr = &both, &both
	run(t, spec, nil)
	var want strings.Builder
	for i := range 500 {
		fmt.Fprintf(&want, "%d\n%d\n", i, i)
	}
	if both.String() != want.String() {
		t.Errorf("%d bytes, not in order", both.Len())
	}
	// Functions cannot be compared, and then they are two.
	spec = shell("echo a; echo b >&2")
	spec.Stdout = writer(func(p []byte) (int, error) { return len(p), nil })
	spec.Stderr = spec.Stdout
	if exit := run(t, spec, nil); exit.Code != 0 {
		t.Errorf("%+v", exit)
	}
}

func TestStreams_FilesAreHandedOver(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	out, err := os.Create(filepath.Join(dir, "out"))
	must.OK(t, err)
	defer out.Close()
	const where = `readlink /proc/$$/fd/1; readlink /proc/$$/fd/2`
	spec := shell(where)
	spec.Stdout, spec.Stderr = out, (*os.File)(nil)
	run(t, spec, nil)
	if got, _ := os.ReadFile(out.Name()); string(got) != out.Name()+"\n/dev/null\n" {
		t.Errorf("%q", got)
	}
	// With a stall limit we must see what passes.
	spec = shell(where)
	spec.Stdout, spec.Stall = out, testTimeout
	run(t, spec, nil)
	if got, _ := os.ReadFile(out.Name()); strings.Count(string(got), "\npipe:") != 2 {
		t.Errorf("%q", got)
	}
}

// A command that closes its streams and goes on is not at its end.
func TestStreams_ClosedByChild(t *testing.T) {
	t.Parallel()
	up := filepath.Join(t.TempDir(), "up")
	spec := shell(`echo hello; exec >&- 2>&-; while [ ! -e "$1" ]; do sleep 0.01; done; exit 7`, up)
	var out bytes.Buffer
	spec.Stdout, spec.Stderr = &out, io.Discard
	exit := run(t, spec, func(p *supervise.Process) {
		time.AfterFunc(50*time.Millisecond, func() { os.WriteFile(up, nil, 0o600) })
	})
	if exit.Code != 7 || out.String() != "hello\n" {
		t.Errorf("%+v, %q", exit, &out)
	}
}

// A closed file cannot be handed to a command.
func TestStreams_ClosedFile(t *testing.T) {
	t.Parallel()
	f, err := os.Create(filepath.Join(t.TempDir(), "f"))
	must.OK(t, err)
	f.Close()
	spec := shell("exit 0")
	spec.Stdout = f
	if _, err := (&supervise.Supervisor{}).Run(spec, nil); !errors.Is(err, os.ErrClosed) {
		t.Errorf("%v", err)
	}
}

func ExampleSupervisor_Run() {
	var out bytes.Buffer
	s := &supervise.Supervisor{}
	exit, err := s.Run(supervise.Spec{
		Path: "/bin/sh", Args: []string{"sh", "-c", "echo hello; exec sleep 300"},
		Stdout: &out, Timeout: 3 * time.Second,
	}, nil)
	fmt.Print(exit.Reason, " ", exit.ShellCode(), " ", err, " ", &out)
	// Output: deadline 143 <nil> hello
}
