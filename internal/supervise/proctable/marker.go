package proctable

import (
	"bytes"
	"strings"
)

// RunIDVar is the environment variable that marks the descendants of a run. Its value is a list, outermost run
// first, because runs nest.
const RunIDVar = "BELAY_RUN_ID"

// Mark returns env with id added to the marker.
func Mark(env []string, id string) []string {
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

// markers are the runs that a process environment (NUL-separated, as the kernel shows it) names.
func markers(environ []byte) []string {
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if list, ok := bytes.CutPrefix(kv, []byte(RunIDVar+"=")); ok {
			return strings.Split(string(list), ",")
		}
	}
	return nil
}
