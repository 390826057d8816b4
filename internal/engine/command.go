package engine

import (
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// command is what to run, as the stages know it.
type command struct{ belaytype.Command }

// name is what messages and records call the command. Never more of its arguments: they may hold secrets.
func (c *command) name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return filepath.Base(c.Args[0])
}

// variables is the environment that the caller asked for.
func (c *command) variables() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// environ is the environment for the child. Settings that are meant for this run would multiply in a nested one;
// where the state is kept stays the same for all.
func (c *command) environ() []string {
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
func (c *command) staysInMemory() bool {
	_, tail := c.Stderr.(*supervise.Tail)
	return c.Stdout == nil && (c.Stderr == nil || tail)
}

// shareWriter lets one goroutine at a time write where both streams go to one writer, as os/exec does. A file needs no guard.
func (c *command) shareWriter() {
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
