package verdict

import (
	"slices"
	"strings"
)

// SignalNumber is Linux's number of a signal given by its canonical name; 0 if it has none. A shell shows a death by
// signal n as exit code 128+n.
func SignalNumber(name string) int {
	short, ok := strings.CutPrefix(name, "SIG")
	if !ok || short == "" {
		return 0
	}
	return max(0, slices.Index(signals[:], short))
}
