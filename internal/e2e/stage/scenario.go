//go:build linux

package stage

import (
	"cmp"
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
	Requests int    // -1 is any number: it depends on how busy the machine is
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
	if sc.Requests >= 0 && !r.stoppedLate(sc.Requests) {
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
	late := r.Stage.Requests() > requests && r.Result.Requests <= requests+1 && strings.HasPrefix(r.Result.Error, "stopped ")
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
	return sc.With(sc.Older[last])
}

// With is the scenario with what the other one says in its place, where that says something. Both checks are made.
func (sc Scenario) With(other Scenario) Scenario {
	sc.Script, sc.Class = cmp.Or(other.Script, sc.Script), cmp.Or(other.Class, sc.Class)
	sc.Code, sc.Attempts, sc.Requests = cmp.Or(other.Code, sc.Code), cmp.Or(other.Attempts, sc.Attempts), cmp.Or(other.Requests, sc.Requests)
	sc.Stdout, sc.After = cmp.Or(other.Stdout, sc.Stdout), cmp.Or(other.After, sc.After)
	for _, list := range []struct{ to, from *[]string }{{&sc.Flags, &other.Flags}, {&sc.Args, &other.Args}, {&sc.Env, &other.Env}} {
		if *list.from != nil {
			*list.to = *list.from
		}
	}
	if other.Older != nil {
		sc.Older = other.Older
	}
	if first, second := sc.Check, other.Check; second != nil {
		sc.Check = func(t *testing.T, r *Ran) {
			if first != nil {
				first(t, r)
			}
			second(t, r)
		}
	}
	return sc
}
