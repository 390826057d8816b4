package shim

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// MarkVar is the environment variable that has the [Mark]. A user may set it to [Off].
const MarkVar = "BELAY_SHIM"

// Off as the value of [MarkVar] keeps Belay out of the way: by the name of a CLI it becomes that CLI, whatever the command.
const Off = "off"

// Mark says that a process works for a CLI that Belay has started or become.
type Mark struct {
	Name  string // of the CLI
	PID   int    // of the Belay that has started it, or has become it
	Depth int    // how many such Belays are around it, this one included
	Path  string // the CLI that was taken
}

// ReadMark is the mark in an environment; the zero value if there is none.
func ReadMark(env []string) (m Mark) {
	for _, kv := range env {
		value, ok := strings.CutPrefix(kv, MarkVar+"=")
		if !ok {
			continue
		}
		parts := strings.SplitN(value, ":", 4)
		if len(parts) != 4 {
			return Mark{}
		}
		m.Name, m.Path = parts[0], parts[3]
		m.PID, _ = strconv.Atoi(parts[1])
		m.Depth, _ = strconv.Atoi(parts[2])
	}
	return m
}

// Setting is the mark of the CLI of that name at path, which this process is about to start or to become, as the environment has it.
func Setting(env []string, name, path string) string {
	if slices.Contains(env, MarkVar+"="+Off) {
		return MarkVar + "=" + Off
	}
	return fmt.Sprintf("%s=%s:%d:%d:%s", MarkVar, name, os.Getpid(), ReadMark(env).Depth+1, path)
}

// maxDepth is how many Belays may be around a CLI before that is taken for a loop: a wrapper that looks for the next CLI of its
// name on PATH finds us first, and we find it. Agents that run agents do not get so deep.
const maxDepth = 10

// again reports whether the command that Belay was started for is one that Belay works on already: its parent is Belay, or was
// Belay before it became what has started us.
func (m Mark) again(name string) bool {
	return m.Name == name && (m.PID == os.Getpid() || m.PID == os.Getppid())
}

// loops reports whether the command leads back to itself.
func (m Mark) loops() bool { return m.Depth >= maxDepth }
