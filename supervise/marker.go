package supervise

import (
	"slices"
	"strings"
)

// RunIDVar is the environment variable that marks the descendants of a run. Its value is a list, outermost run
// first, because runs nest.
const RunIDVar = "BELAY_RUN_ID"

// mark returns env with id added to the marker.
func mark(env []string, id string) []string {
	const prefix = RunIDVar + "="
	marked := make([]string, 0, len(env)+1)
	value := id
	for _, kv := range env {
		if outer, ok := strings.CutPrefix(kv, prefix); ok {
			if outer != "" {
				value = outer + "," + id
			}
			continue
		}
		marked = append(marked, kv)
	}
	return append(marked, prefix+value)
}

// marked reports whether a process environment (NUL-separated, as the kernel shows it) carries id.
func marked(environ []byte, id string) bool {
	for kv := range strings.SplitSeq(string(environ), "\x00") {
		if list, ok := strings.CutPrefix(kv, RunIDVar+"="); ok {
			return slices.Contains(strings.Split(list, ","), id)
		}
	}
	return false
}
