package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/test/must"
)

// The tests of this package call belay in process, through [cli.Run]. Environment and working directory are the process's, so
// they do not run in parallel. What needs a process of its own (signals, terminals) is tested in cmd/belay.

// place gives a test a home, a state directory and a working directory of its own, and nothing of the user's settings. It
// returns the working directory, with its links resolved.
func place(t *testing.T) string {
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
	cli.SetExecutable(t, write(t, filepath.Join(dir, "opt", "belay"), "", 0o700))
	return filepath.Join(dir, "work")
}

// outcome is what a call of belay has come to.
type outcome struct {
	t              *testing.T
	args           []string
	code           int
	stdout, stderr string
}

// belay calls belay without input.
func belay(t *testing.T, args ...string) outcome {
	t.Helper()
	return call(t, t.Context(), nil, args...)
}

func call(t *testing.T, ctx context.Context, stdin io.Reader, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := cli.Run(ctx, args, stdin, &stdout, &stderr)
	return outcome{t, args, code, stdout.String(), stderr.String()}
}

// ends checks the exit code.
func (o outcome) ends(code int) outcome {
	o.t.Helper()
	if o.code != code {
		o.t.Fatalf("belay %q: exit code %d, want %d\nstdout: %s\nstderr: %s", o.args, o.code, code, o.stdout, o.stderr)
	}
	return o
}

// says checks that stderr contains all of these; without any, that it is empty.
func (o outcome) says(want ...string) outcome {
	o.t.Helper()
	o.contains("stderr", o.stderr, want)
	return o
}

// prints checks the same of stdout.
func (o outcome) prints(want ...string) outcome {
	o.t.Helper()
	o.contains("stdout", o.stdout, want)
	return o
}

func (o outcome) contains(name, text string, want []string) {
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

// write makes a file, and the directories above it.
func write(t *testing.T, path, text string, mode os.FileMode) string {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(text), mode))
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	must.OK(t, err)
	return string(data)
}

// home is a path below the test's home.
func home(elem ...string) string {
	return filepath.Join(append([]string{os.Getenv("HOME")}, elem...)...)
}

// script puts a shell script on the PATH.
func script(t *testing.T, name, text string) string {
	t.Helper()
	return write(t, filepath.Join(filepath.Dir(os.Getenv("HOME")), "bin", name), "#!/bin/sh\n"+text, 0o700)
}
