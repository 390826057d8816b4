package rehearse_test

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
)

// Each CLI that can be rehearsed has a stand-in for its service.
func TestRehearsal_EveryCLIHasAStandIn(t *testing.T) {
	for _, d := range profile.All() {
		if !slices.Contains(rehearse.Vendors(), d.Rehearsal.Vendor) {
			t.Errorf("%s: there is no stand-in %q", d.Name, d.Rehearsal.Vendor)
		}
	}
}
