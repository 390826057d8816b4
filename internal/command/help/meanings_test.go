package help

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/engine"
)

// Every exit code that has a name is explained, once.
func TestExitCodes_AreExplained(t *testing.T) {
	var explained []string
	for _, c := range ExitCodes() {
		explained = append(explained, strings.Split(c.Code, ", ")...)
	}
	for _, code := range []int{engine.CodeUsage, engine.CodeTryLater, engine.CodePersonMustAct, engine.CodeTimeout, engine.CodeFailed,
		engine.CodeNotExecutable, engine.CodeNotFound} {
		if !slices.Contains(explained, strconv.Itoa(code)) {
			t.Errorf("%d is not explained", code)
		}
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(explained))); len(distinct) != len(explained) {
		t.Errorf("a code is explained twice: %q", explained)
	}
}
