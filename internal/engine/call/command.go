package call

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

// Command is what to run, as the stages know it.
type Command struct{ belaytype.Command }

// Name is what messages and records call the command. Never more of its arguments: they may hold secrets.
func (c *Command) Name() string {
	if len(c.Args) == 0 {
		return ""
	}
	return filepath.Base(c.Args[0])
}

// Variables is the environment that the caller asked for.
func (c *Command) Variables() []string {
	if c.Env == nil {
		return os.Environ()
	}
	return c.Env
}

// Environ is the environment for the child. Settings that are meant for this run would multiply in a nested one;
// where the state is kept stays the same for all.
func (c *Command) Environ() []string {
	env := c.Variables()
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

// StaysInMemory reports whether what the command prints is only kept.
func (c *Command) StaysInMemory() bool {
	_, tail := c.Stderr.(*supervise.Tail)
	return c.Stdout == nil && (c.Stderr == nil || tail)
}

// ShareWriter lets one goroutine at a time write where both streams go to one writer, as os/exec does. A file needs no guard.
func (c *Command) ShareWriter() {
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
