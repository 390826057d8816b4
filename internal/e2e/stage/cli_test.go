//go:build linux

package stage_test

import (
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/rehearse"
)

// Every agent of the registry can be put on the stage.
func TestAgents(t *testing.T) {
	if len(stage.Agents()) == 0 {
		t.Fatal("there are none")
	}
	for _, cli := range stage.Agents() {
		t.Run(cli.Name, func(t *testing.T) {
			if len(cli.Versions) == 0 || len(cli.Rehearsal.Ask) == 0 || !slices.Contains(rehearse.Vendors(), cli.Rehearsal.Vendor) {
				t.Errorf("%v, %+v", cli.Versions, cli.Rehearsal)
			}
		})
	}
}
