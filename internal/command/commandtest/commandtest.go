// Package commandtest calls belay in process, for tests of its commands. Environment and working directory are the process's, so such tests do not run in
// parallel. What needs a process of its own (signals, terminals) is tested in cmd/belay.
package commandtest

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/test/must"
)

// Timeout bounds what takes a moment on an idle machine.
const Timeout = 30 * time.Second

// SetExecutable has belay believe, for the time of a test, that its executable is there.
func SetExecutable(t *testing.T, path string) {
	before := command.Executable
	command.Executable = func() (string, error) { return path, nil }
	t.Cleanup(func() { command.Executable = before })
}

// Place gives a test a home, a state directory and a working directory of its own, and nothing of the user's settings. It
// returns the working directory, with its links resolved.
func Place(t *testing.T) string {
	t.Helper()
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		for _, prefix := range []string{"BELAY_", "CLAUDE_", "CODEX_", "ANTHROPIC_", "OPENAI_", "GH_", "GITHUB_"} {
			if strings.HasPrefix(name, prefix) {
				t.Setenv(name, "") // to have it back afterwards
				os.Unsetenv(name)
			}
		}
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	for _, name := range []string{"home", "work", "bin", "opt"} {
		must.OK(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "home", ".config"))
	t.Setenv("BELAY_STATE_DIR", filepath.Join(dir, "state"))
	t.Setenv("BELAY_FOLD", "off")
	t.Setenv("TZ", "UTC")
	t.Setenv("SHELL", "/bin/sh")
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Chdir(filepath.Join(dir, "work"))
	SetExecutable(t, Write(t, filepath.Join(dir, "opt", "belay"), "", 0o700))
	return filepath.Join(dir, "work")
}

// Outcome is what a call of belay has come to.
type Outcome struct {
	t              *testing.T
	args           []string
	Code           int
	Stdout, Stderr string
}

// Belay calls belay without input.
func Belay(t *testing.T, args ...string) Outcome {
	t.Helper()
	return Call(t, t.Context(), nil, args...)
}

// Call calls belay with that input.
func Call(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := belay.Run(ctx, args, stdin, &stdout, &stderr)
	return Outcome{t, args, code, stdout.String(), stderr.String()}
}

// Ends checks the exit code.
func (o Outcome) Ends(code int) Outcome {
	o.t.Helper()
	if o.Code != code {
		o.t.Fatalf("belay %q: exit code %d, want %d\nstdout: %s\nstderr: %s", o.args, o.Code, code, o.Stdout, o.Stderr)
	}
	return o
}

// Says checks that stderr contains all of these; without any, that it is empty.
func (o Outcome) Says(want ...string) Outcome {
	o.t.Helper()
	o.contains("stderr", o.Stderr, want)
	return o
}

// Prints checks the same of stdout.
func (o Outcome) Prints(want ...string) Outcome {
	o.t.Helper()
	o.contains("stdout", o.Stdout, want)
	return o
}

func (o Outcome) contains(name, text string, want []string) {
	o.t.Helper()
	if len(want) == 0 && text != "" {
		o.t.Errorf("belay %q: %s is %q, want nothing", o.args, name, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			o.t.Errorf("belay %q: %s lacks %q:\n%s", o.args, name, w, text)
		}
	}
}

// Write makes a file, and the directories above it.
func Write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), mode))
	return path
}

// Read reads a file.
func Read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must.OK(t, err)
	return string(data)
}

// Home is a path below the test's home.
func Home(elem ...string) string {
	return filepath.Join(append([]string{os.Getenv("HOME")}, elem...)...)
}

// Script puts a shell script on the PATH.
func Script(t *testing.T, name, text string) string {
	t.Helper()
	return Write(t, filepath.Join(filepath.Dir(os.Getenv("HOME")), "bin", name), "#!/bin/sh\n"+text, 0o700)
}

// Begun calls belay and returns when the command has said "ready". wait returns what became of it.
func Begun(t *testing.T, ctx context.Context, args ...string) (wait func() Outcome) {
	t.Helper()
	r, w := io.Pipe()
	var stderr strings.Builder
	over := make(chan int, 1)
	go func() {
		over <- belay.Run(ctx, args, nil, w, &stderr)
		w.Close()
	}()
	if _, err := io.ReadFull(r, make([]byte, len("ready\n"))); err != nil {
		t.Fatalf("belay %q is over: %d, %s", args, <-over, stderr.String())
	}
	go io.Copy(io.Discard, r)
	return func() Outcome {
		t.Helper()
		select {
		case code := <-over:
			return Outcome{t: t, args: args, Code: code, Stderr: stderr.String()}
		case <-time.After(Timeout):
			t.Fatalf("belay %q does not end", args)
			return Outcome{}
		}
	}
}

// Appears waits for a file.
func Appears(t *testing.T, path string) {
	t.Helper()
	for end := time.Now().Add(Timeout); ; {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", path)
		}
		time.Sleep(time.Millisecond)
	}
}
