//go:build linux

package stage

import (
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/opencode"
	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/profile"
)

// CLI is an agent that a suite drives.
type CLI struct {
	*agent.Descriptor
	Versions []string // that it is tried with, the newest first
}

// Claude, Codex and Opencode are for what is special to them.
var Claude, Codex, Opencode = of(&claude.Descriptor), of(&codex.Descriptor), of(&opencode.Descriptor)

// Agents are all agents of the registry.
func Agents() (list []CLI) {
	for _, d := range profile.All() {
		if d.IsAgent() {
			list = append(list, of(d))
		}
	}
	return list
}

func of(d *agent.Descriptor) CLI { return CLI{d, clitest.Versions(d)} }

// CLIs are all of them.
var CLIs = Agents()

// New begins a rehearsal with a version of the agent, the newest if it is empty. The test is skipped if that is not
// installed.
func (c CLI) New(t *testing.T, version, script string) *Stage {
	t.Helper()
	if version == "" {
		version = c.Versions[0]
	}
	path := clitest.Find(t, c.Descriptor, version)
	s := New(t, script)
	s.cli, s.Agent, s.Version = c, path, version
	return s
}

// Each runs a test with every version, in parallel; one that is not quick only in full. With after, only versions after
// that one.
func (c CLI) Each(t *testing.T, quick bool, test func(t *testing.T, version string), after ...string) {
	t.Helper()
	if !quick {
		InFull(t)
	}
	t.Parallel()
	for _, version := range c.Versions {
		if len(after) > 0 && UpTo(version, after[0]) {
			continue
		}
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			test(t, version)
		})
	}
}

// InFull skips what takes too long for every day.
func InFull(t *testing.T) {
	t.Helper()
	if !clitest.Full() {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
}

// UpTo says whether a version is last, or one before it: what differs for a version differs for all that are older.
func UpTo(version, last string) bool { return agent.CompareVersions(version, last) <= 0 }
