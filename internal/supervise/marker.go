package supervise

import (
	"bytes"
	"slices"
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

// runs returns those of the given runs that the process belongs to: by its environment, or where that was wiped by its
// limit ([limitMarkOf]), which names only the innermost one.
func (p Proc) runs(ids []string) (found []string) {
	limit := p.limitMark()
	for _, id := range ids {
		if limit != 0 && limit == limitMarkOf(id) {
			if found = append(found, id); len(ids) == 1 {
				return found
			}
		}
	}
	for _, id := range p.markers() {
		if slices.Contains(ids, id) && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
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
