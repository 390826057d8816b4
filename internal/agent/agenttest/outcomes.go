// Package agenttest holds profiles against real outcomes that were labelled by hand.
package agenttest

import (
	"os"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/outcome"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// Outcomes has a profile judge, at now, every outcome of a file of JSON lines, of which there must be so many at least.
func Outcomes(t *testing.T, path string, least int, now time.Time, p agent.Profile) {
	f, err := os.Open(path)
	must.OK(t, err)
	defer f.Close()
	list, err := outcome.Read(f)
	if err != nil || len(list) < least {
		t.Errorf("%d outcomes, %v", len(list), err)
	}
	for _, saved := range list {
		t.Run(saved.ID, func(t *testing.T) {
			v := p.Judge(saved.Outcome(), now)
			for _, d := range saved.Compare(v) {
				t.Errorf("%v (by %s: %q)", d, v.Rule, v.Evidence)
			}
			if v.Class != verdict.OK && v.Evidence == "" {
				t.Error("no evidence")
			}
		})
	}
}
