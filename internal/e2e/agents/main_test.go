//go:build linux

package agents_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
)

func TestMain(m *testing.M) {
	stage.Parallel = 10 // most of the time they wait for an API that is slow on purpose
	stage.Raced = true
	stage.Main(m)
}

const answer = stage.Answer

var full = clitest.Full()

// daily is how many there are of something every day, and in full.
func daily(few, many int) int {
	if full {
		return many
	}
	return few
}

// soon makes what belay waits short.
var soon = []string{"--base-delay", "100ms"}

// agent is a CLI of the registry, and what the suite has to know of it.
type agent struct {
	stage.CLI

	// ask is a command line that asks. Without arguments it takes its prompt from stdin. work is one that may use tools.
	ask, work func(more ...string) []string
	// headless is how a command line begins that asks, as belay repeats it to people.
	headless string

	// forms are the arguments for each form of output, by their names; stream is the name of the one that tells of events.
	forms  map[string][]string
	stream string
	// varies are values in the output that differ from run to run.
	varies func(version string) []*regexp.Regexp
	// begins stands in a stream once, at its begin; fails stands in a stream that tells of a failure.
	begins, fails string
	// toolSteps are steps of a script that use tools, and tools is how often each is then on record, by its name there.
	toolSteps string
	tools     map[string]int
	// toolEvent stands in the event that tells of a shell command.
	toolEvent string
	// resumed is how often a stream has events of each kind after a tool, a failure and a retry that went on.
	resumed map[string]int
	// failures are those that nothing repeats.
	failures map[string]failure

	// priced are the arguments that choose a model which has a price.
	priced []string

	// once is an environment in which the CLI gives up at the step of gaveUp, which takes that many requests.
	once   []string
	gaveUp func(version string) (step string, requests int)
	// inner is a script for a failure that the CLI repeats by itself.
	inner string

	// nothings are steps for answers without an answer, by their names; those of dailyNothings are tried every day. emptyRequests is how often the CLI itself asks for one
	// that can be read before it is content, in one run.
	nothings      map[string]string
	dailyNothings []string
	emptyRequests int

	// text is one of that size, in bytes or characters, whichever the CLI counts; sizes are prompts of every size that it takes.
	text  func(size int) string
	sizes func() []size
	// tooLong is a size that it does not take; refusal is what belay says then.
	tooLong int
	refusal []string
	// beside is what becomes of a prompt with piped input beside it; empty if it does not matter.
	beside string

	// noSession is an id that no session has, and notFound what the CLI says of it; empty if it says other things too.
	noSession, notFound string
	// notFoundCode is what it then ends with; 0 means 1.
	notFoundCode int
	// resumes are command lines of the CLI's own to go on with a session, with the prompts "second", "third" and "fourth".
	resumes func(id string) [][]string

	// toolRequests is how many requests there are, at most, while a tool runs on.
	toolRequests int
	// fleet is how many calls INTEG-01 makes in full, and daily how many it makes every day.
	fleet, daily int

	// differs is what differs from the scenarios that all have, by their names; scenarios are more of them.
	differs   map[string]stage.Scenario
	scenarios []stage.Scenario
	// everyDay are the tests that it takes part in every day, by their names or as a part, "TestStop/SIGTERM"; nil means all of them. A CLI that takes long to start
	// has the others in full.
	everyDay []string
	// rarely are tests that it takes part in only in full, because others show the same every day.
	rarely []string
	// recorded are failures whose outcomes are kept as test data.
	recorded []recorded
	// unnamed says that it does not tell its service which session a request belongs to.
	unnamed bool
}

// failure is a script for one, the arguments that it takes, and the last version for which it is none.
type failure struct {
	script string
	args   []string
	after  string
}

// size is a prompt of some size.
type size struct {
	name, text string
}

// registered is the CLI of that name in the registry.
func registered(name string) stage.CLI {
	for _, c := range stage.Agents() {
		if c.Name == name {
			return c
		}
	}
	panic(name + " is not in the registry")
}

// described are the CLIs that have a file here.
var described = map[string]*agent{claude.Name: claude, codex.Name: codex, gemini.Name: gemini, opencode.Name: opencode}

// agents are all CLIs of the registry.
var agents = func() (all []*agent) {
	for _, c := range stage.CLIs {
		a := described[c.Name]
		if a == nil {
			a = &agent{}
		}
		a.CLI = c
		all = append(all, a)
	}
	return all
}()

// after is the last version of a CLI that a test is not for.
type after struct {
	agent   *agent
	version string
}

// each runs a test with every version of every agent, in parallel; one that is not quick only in full.
func each(t *testing.T, quick bool, test func(t *testing.T, a *agent, version string), older ...after) {
	t.Helper()
	if !quick {
		stage.InFull(t)
	}
	t.Parallel()
	for _, a := range agents {
		if !full && !a.isDaily(t) {
			continue
		}
		for _, version := range a.Versions {
			if slices.ContainsFunc(older, func(o after) bool { return o.agent == a && stage.UpTo(version, o.version) }) {
				continue
			}
			// One level: what is nested deeper begins later, and a test that waits long should not be the last.
			t.Run(a.Name+"/"+version, func(t *testing.T) {
				if a.ask == nil {
					t.Skip("SKIPPED: the suite has no file for this CLI")
				}
				t.Parallel()
				test(t, a, version)
			})
		}
	}
}

// isDaily reports whether the CLI takes part in a test every day.
func (a *agent) isDaily(t *testing.T) bool {
	whole, _, _ := strings.Cut(t.Name(), "/")
	if slices.Contains(a.rarely, whole) {
		return false
	}
	return a.everyDay == nil || slices.Contains(a.everyDay, t.Name()) || slices.Contains(a.everyDay, whole)
}

// newest runs a test with the newest version of every agent, in parallel.
func newest(t *testing.T, test func(t *testing.T, a *agent, s *stage.Stage)) {
	t.Helper()
	each(t, true, func(t *testing.T, a *agent, version string) {
		if version != a.Versions[0] {
			t.Skip("only with the newest version")
		}
		test(t, a, a.New(t, version, "200"))
	})
}

// events are the arguments for a stream of events, and then more.
func (a *agent) events(more ...string) []string { return slices.Concat(a.forms[a.stream], more) }

// alike is output without what differs from run to run.
func (a *agent) alike(s *stage.Stage, text string) string {
	for _, v := range a.varies(s.Version) {
		text = v.ReplaceAllString(text, "…")
	}
	return text
}

// givesUp begins a rehearsal in which the CLI gives up: the steps before, the one it gives up on, and the steps after.
// It returns how many requests that one takes.
func (a *agent) givesUp(t *testing.T, version, before, after string) (*stage.Stage, int) {
	t.Helper()
	s := a.New(t, version, a.failing(version, before, after))
	s.Env = a.once
	_, requests := a.gaveUp(version)
	return s, requests
}

// failing is the script of givesUp.
func (a *agent) failing(version, before, after string) string {
	step, _ := a.gaveUp(version)
	script := step
	if before != "" {
		script = before + ", " + script
	}
	return script + after
}
