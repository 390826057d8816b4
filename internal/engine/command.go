package engine

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// Command is what to run.
type Command struct {
	// Args is the command and its arguments. There is no shell.
	Args []string
	// Dir is the working directory; empty means the caller's.
	Dir string
	// Env is the environment; nil means the caller's. Belay's own settings (BELAY_*) are taken out of it.
	Env []string

	// Stdin is what the command reads; nil means nothing. A file is handed over as it is where that is possible.
	Stdin io.Reader
	// Prompt, if not nil, is given to every attempt: a generic command reads it from stdin. Its hash is on record.
	Prompt *string

	// Stdout and Stderr take the output of the attempt that counts. A nil Stdout keeps it in Result.Output; a nil
	// Stderr drops it. If both are the same writer, one goroutine at a time writes to it.
	Stdout, Stderr io.Writer

	// Terminal lets the command use the terminal that the caller runs on, as a shell would. Only for a caller that
	// owns its process.
	Terminal bool
}

// UsageError says that a command cannot be run as it was asked for. Nothing was started.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns what is wrong.
func (e *UsageError) Unwrap() error { return e.Err }

// name is what messages and records call the command. Never more of its arguments: they may hold secrets.
func (c *Command) name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return filepath.Base(c.Args[0])
}

// variables is the environment that the caller asked for.
func (c *Command) variables() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// environ is the environment for the child. Settings that are meant for this run would multiply in a nested one;
// where the state is kept stays the same for all.
func (c *Command) environ() []string {
	env := c.variables()
	kept := make([]string, 0, len(env)+1)
	for _, kv := range env {
		name, _, _ := strings.Cut(kv, "=")
		if strings.HasPrefix(name, "BELAY_") && name != supervise.RunIDVar && name != state.DirVar && name != state.FoldVar && name != state.RehearsalVar {
			continue
		}
		kept = append(kept, kv)
	}
	return kept
}

// staysInMemory reports whether what the command prints is only kept.
func (c *Command) staysInMemory() bool {
	_, tail := c.Stderr.(*supervise.Tail)
	return c.Stdout == nil && (c.Stderr == nil || tail)
}

// shareWriter lets one goroutine at a time write where both streams go to one writer, as os/exec does. A file needs no guard.
func (c *Command) shareWriter() {
	if _, file := c.Stdout.(*os.File); file || c.Stdout == nil || !reflect.ValueOf(c.Stdout).Comparable() || c.Stdout != c.Stderr {
		return
	}
	shared := &sharedWriter{to: c.Stdout}
	c.Stdout, c.Stderr = shared, shared
}

// sharedWriter is a writer of several goroutines.
type sharedWriter struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements [io.Writer].
func (w *sharedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(p)
}

// check finds, before anything is started, what cannot work.
func (r *Runner) check(c *Command, env []string) error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return &UsageError{errors.New(message.NoCommand())}
	}
	for _, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return &UsageError{errors.New("an argument contains a NUL byte")}
		}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &UsageError{fmt.Errorf("working directory %s does not exist", c.Dir)}
		case err != nil:
			return &UsageError{fmt.Errorf("%s: %w", fmt.Sprintf("working directory %s cannot be used", c.Dir), err)}
		case !info.IsDir():
			return &UsageError{fmt.Errorf("working directory %s is not a directory", c.Dir)}
		}
	}
	if err := supervise.CheckArgs(c.Args, env); err != nil {
		tooLong := &TooLong{Err: err}
		if r.Words != nil {
			if text := r.Words(tooLong); text != "" {
				return &UsageError{errors.New(text)}
			}
		}
		return &UsageError{tooLong}
	}
	return nil
}
