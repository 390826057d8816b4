package certify_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/clitest"
	_ "github.com/belay-run/belay/internal/config" // ships profiles that are data
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse/certify"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/test/must"
)

// Of each agent there are 25 promises, all of which can be tried.
func TestScenarios(t *testing.T) {
	agents := slices.Clone(profile.All())
	for _, name := range profile.Shipped() {
		agents = append(agents, profile.Find(name))
	}
	for _, d := range agents {
		if !d.IsAgent() || len(d.Tested) == 0 { // such as agy, which has no home for rehearsals
			continue
		}
		if len(d.Rehearsal.Ask) == 0 {
			t.Errorf("%s is asked with %q", d.Name, d.Rehearsal.Ask)
		}
		list, err := certify.Scenarios(d, "/usr/bin/"+d.Name)
		must.OK(t, err)
		if len(list) != 25 {
			t.Errorf("%s: %d promises", d.Name, len(list))
		}
		for _, s := range list {
			if _, err := s.Check(); err != nil {
				t.Errorf("%s: %s: %v", d.Name, s.Name, err)
			}
		}
	}
}

// daily are the promises that make test tries: each starts claude once.
const daily = "An answer arrives, with what it has used; A rejected key ends the run with 78, after one request; No credit ends the run with 78; " +
	"An answer that quotes an error is an answer; Without retries the CLI's own exit code stays"

// The pinned versions keep all promises. make test tries five of claude.
func TestCertify(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.OK(t, built.Into(dir, built.Belay))
	belay := filepath.Join(dir, "belay")
	for _, d := range profile.All() {
		if !d.IsAgent() || d.Name != "claude" && !clitest.Full() {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			path := clitest.Find(t, d, clitest.Versions(d)[0])
			list, err := certify.Scenarios(d, path)
			must.OK(t, err)
			if !clitest.Full() {
				list = slices.DeleteFunc(list, func(s *scenario.Scenario) bool { return !strings.Contains(daily, s.Name) })
			}
			scenario.Run(t.Context(), belay, list, 2, func(o scenario.Outcome) {
				if o.Passed {
					t.Logf("%s: %.1fs", o.Name, float64(o.DurationMS)/1000)
					return
				}
				t.Errorf("%s: %s", o.Name, o.Why())
				if o.Seen != nil {
					t.Logf("stdout %q\nstderr %q", o.Seen.Stdout, o.Seen.Stderr)
				}
			})
		})
	}
}
