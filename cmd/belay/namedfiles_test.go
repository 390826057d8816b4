//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/test/must"
)

// What the user names on the command line may be anything that can be read or written.
func TestNamedFiles(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string // of bash; belay is the command
		want   string // all of stdout
		code   int
	}{
		"prompt from a process":        {`belay run --prompt-file <(printf hello) -- cat`, "hello", 0},
		"prompt from a named pipe":     {`mkfifo p; printf hello > p & belay run --prompt-file p -- cat`, "hello", 0},
		"prompt from stdin, a pipe":    {`printf hello | belay run --prompt-file /dev/stdin -- cat`, "hello", 0},
		"prompt from stdin, a file":    {`printf 'read\nhello' > f; { read -r _; belay run --prompt-file /dev/stdin -- cat; } < f`, "hello", 0},
		"prompt from a descriptor":     {`printf hello > f; belay run --prompt-file /dev/fd/7 -- cat 7< f`, "hello", 0},
		"prompt from a here-document":  {"belay run --prompt-file /dev/fd/8 -- cat 8<<< hello", "hello\n", 0},
		"prompt from a link":           {`printf hello > f; ln -s f l; belay run --prompt-file l -- cat`, "hello", 0},
		"prompt from a hard link":      {`printf hello > f; ln f l; belay run --prompt-file l -- cat`, "hello", 0},
		"prompt from nothing":          {`belay run --prompt-file /dev/null -- wc -c`, "0\n", 0},
		"prompt from another user":     {`printf hello > f; chown 12345 f 2>/dev/null; belay run --prompt-file f -- cat`, "hello", 0},
		"prompt from a directory":      {`mkdir d; belay run --prompt-file d -- cat`, "", 2},
		"prompt from a lasting device": {`belay run --prompt-file /dev/zero -- cat`, "", 2},
		"result to a process":          {`belay run --result-file >(grep -c success > n) -- echo out; until [ -s n ]; do sleep 0.02; done; cat n`, "out\n1\n", 0},
		"result to a named pipe":       {`mkfifo p; grep -c success p > n & belay run --result-file p -- echo out; wait; cat n`, "out\n1\n", 0},
		"result to stdout":             {`belay run --result-file /dev/stdout -- true | grep -c success`, "1\n", 0},
		"result to a descriptor":       {`belay run --result-file /dev/fd/7 -- true 7> f; grep -c success f`, "1\n", 0},
		"result to a link":             {`mkdir d; ln -s d/r l; belay run --result-file l -- true; test -L l && grep -c success d/r`, "1\n", 0},
		"result to nothing":            {`belay run --result-file /dev/null -- echo out; test -c /dev/null`, "out\n", 0},
		"evidence from a process":      {`belay explain --exit-code 1 --stderr <(echo connection refused) | grep -c refused`, "1\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, 0)
			ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
			defer cancel()
			cmd := r.command("bash", "-c", strings.ReplaceAll(tt.script, "belay ", "belay-plain "))
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			must.OK(t, cmd.Start())
			stop := context.AfterFunc(ctx, func() { cmd.Process.Kill() })
			code := shellCode(cmd.Wait())
			if !stop() {
				t.Errorf("did not end within %v", testTimeout)
			}
			if code != tt.code || stdout.String() != tt.want {
				t.Errorf("exit code %d, stdout %q; want %d and %q\n%s", code, stdout.String(), tt.code, tt.want, stderr.String())
			}
		})
	}
}

// A prompt that does not come is not waited for longer than the user wants, also if it is a named pipe that no process
// writes to.
func TestNamedFiles_NoWriter(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		flags []string
		kill  unix.Signal
		code  int
	}{
		"timeout":       {[]string{"--timeout", "200ms"}, 0, 124},
		"total timeout": {[]string{"--total-timeout", "200ms"}, 0, 124},
		"interrupt":     {nil, unix.SIGINT, 130},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRun(t, 0)
			pipe := filepath.Join(r.dir, "pipe")
			must.OK(t, unix.Mkfifo(pipe, 0o600))
			r.start("belay", append(append([]string{"run", "--prompt-file", pipe}, tt.flags...), "--", "touch", "started")...)
			if tt.kill != 0 {
				eventually(t, "belay opens the pipe", func() bool { return isOpening(r.cmd.Process.Pid) })
				unix.Kill(r.cmd.Process.Pid, tt.kill)
			}
			if code := shellCode(r.cmd.Wait()); code != tt.code {
				t.Errorf("exit code %d, want %d\n%s", code, tt.code, r.said())
			}
			if _, err := os.Stat(filepath.Join(r.dir, "started")); err == nil {
				t.Error("the command was started")
			}
		})
	}
}

// isOpening reports whether a thread of a process is in an open.
func isOpening(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", pid))
	return slices.ContainsFunc(threads, func(path string) bool {
		data, _ := os.ReadFile(path)
		return strings.HasPrefix(string(data), fmt.Sprint(unix.SYS_OPENAT, " "))
	})
}
