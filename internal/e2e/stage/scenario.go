//go:build linux

package stage

import (
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
)

// Scenario is one run of `belay run flags -- agent args` and what must come of it.
type Scenario struct {
	Name   string
	Quick  bool // also in the short run
	Script string
	Flags  []string
	Args   []string // instead of those that ask for something simple
	Env    []string

	Code     int
	Class    string // empty is a success
	Attempts int    // 0 is 1
	Requests int
	Stdout   string // the whole of it; "*" is anything
	Check    func(t *testing.T, r *Ran)

	After string // only for versions after that one
	Older Older
}

// Older is what differs up to a version: Code, Class, Attempts, Requests, Stdout and Env where they are set.
type Older map[string]Scenario

// Play plays the scenarios, each with every version, in parallel.
func (c CLI) Play(t *testing.T, scenarios []Scenario) {
	t.Helper()
	t.Parallel()
	for _, sc := range scenarios {
		if !sc.Quick && !clitest.Full() {
			continue
		}
		for _, version := range c.Versions {
			if sc.After != "" && UpTo(version, sc.After) {
				continue
			}
			t.Run(sc.Name+"/"+version, func(t *testing.T) {
				t.Parallel()
				sc.of(version).play(c.New(t, version, sc.Script))
			})
		}
	}
}

// play runs the scenario once.
func (sc Scenario) play(s *Stage) {
	s.Env = sc.Env
	args := sc.Args
	if args == nil {
		args = s.cli.Rehearsal.Ask
	}
	r := s.Belay(sc.Flags, args)
	r.Exits(sc.Code)
	r.Is(sc.Class, max(sc.Attempts, 1))
	if !r.stoppedLate(sc.Requests) {
		s.Asked(sc.Requests)
	}
	if sc.Stdout != "*" {
		r.Prints(sc.Stdout)
	}
	if sc.Code == 75 && (!strings.HasSuffix(r.Result.Error, "retry later") || r.Result.Result != "") {
		s.T.Errorf("%+v", r.Result)
	}
	if sc.Check != nil {
		sc.Check(s.T, r)
	}
	s.NobodyLeft()
}

// stoppedLate reports whether belay ended the CLI after so many requests, as it should, and on a busy machine the end came
// after the next: codex asks again 0.2 s after it has said why, claude after 0.5 s. When belay decided it is in its account.
func (r *Ran) stoppedLate(requests int) bool {
	late := r.Stage.Requests() > requests && r.Result.Requests == requests && strings.Contains(r.Result.Error, "was stopped while it kept trying")
	if late {
		r.T.Logf("%d requests of which the last came before the end", r.Stage.Requests())
	}
	return late
}

// of is the scenario for a version.
func (sc Scenario) of(version string) Scenario {
	last := ""
	for v := range sc.Older {
		if UpTo(version, v) && (last == "" || UpTo(v, last)) {
			last = v
		}
	}
	other := sc.Older[last]
	if other.Code != 0 {
		sc.Code = other.Code
	}
	if other.Class != "" {
		sc.Class = other.Class
	}
	if other.Attempts != 0 {
		sc.Attempts = other.Attempts
	}
	if other.Requests != 0 {
		sc.Requests = other.Requests
	}
	if other.Stdout != "" {
		sc.Stdout = other.Stdout
	}
	if other.Env != nil {
		sc.Env = other.Env
	}
	return sc
}
