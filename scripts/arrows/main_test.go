package main

import (
	"os"
	"testing"

	"github.com/belay-run/belay/internal/test/must"
)

// In the engine, the record, the proxy and the commands the files use each other in one direction, but for a few, and no type is hard to hold.
func TestArrows_RunOneWay(t *testing.T) {
	os.Getenv("BELAY_TEST_BUILT") // another each time, so that go test does not keep a result that depends on what go list says
	const ours = "github.com/belay-run/belay/internal/"
	packages, err := list([]string{ours + "engine/...", ours + "record/...", ours + "mcp/...", ours + "command/..."})
	must.OK(t, err)
	for _, p := range packages {
		h, err := p.house()
		must.OK(t, err)
		if back := h.back(); len(back)*100 > 15*len(h.arrows) {
			t.Errorf("%s: %d of %d arrows between files run back: %v", p.path, len(back), len(h.arrows), back)
		}
		if len(h.large) > 0 {
			t.Errorf("%s: %v have more than 20 fields or 25 methods", p.path, h.large)
		}
	}
}
