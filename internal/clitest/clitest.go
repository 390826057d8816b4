// Package clitest is for tests that drive the real agent CLIs.
//
// [Find] finds the CLIs that scripts/setup-clis has installed, [GH] the gh that scripts/setup-gh has found or built.
// [Main] runs the tests of a package in a network namespace with only loopback, where the system allows one: what the tests
// start cannot reach any other host, and a stand-in that the tests start is inside too.
//
// Skipping is loud, and where CI is set it is a failure: a test that never ran has proved nothing.
package clitest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/claude"
	"github.com/belay-run/belay/internal/agent/codex"
	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// NewestSDK is the version of claude's Agent SDK, newestCodexSDK that of codex's.
const (
	NewestSDK      = "0.3.325"
	newestCodexSDK = "0.163.0"
)

// extraVar names a directory of other CLIs, laid out as .clis is (claude-2.1.260/claude, …). The suites are then run with
// those, in place of the versions above.
const extraVar = "BELAY_TEST_CLIS"

// Versions are the versions of a CLI that a suite is run with: the newest, and in full the older ones.
func Versions(cli *agent.Descriptor) []string {
	name := cli.Name
	if dir := os.Getenv(extraVar); dir != "" {
		var list []string
		paths, _ := filepath.Glob(filepath.Join(dir, name+"-*", name))
		for _, path := range paths {
			list = append(list, strings.TrimPrefix(filepath.Base(filepath.Dir(path)), name+"-"))
		}
		if len(list) > 0 {
			slices.SortFunc(list, func(a, b string) int { return agent.CompareVersions(b, a) })
			return list
		}
	}
	if Full() {
		return slices.Clone(cli.Tested)
	}
	return []string{cli.Tested[0]}
}

// Find is the path of a CLI at that version; the newest if it is empty, and of gh whichever there is.
func Find(t testing.TB, cli *agent.Descriptor, version string) string {
	t.Helper()
	if version == "" && cli.Name == gh.Name {
		return GH(t)
	}
	return find(t, cli.Name, cmp.Or(version, cli.Tested[0]))
}

// Claude is the path of claude at that version; the newest if it is empty.
func Claude(t testing.TB, version string) string {
	t.Helper()
	return Find(t, &claude.Descriptor, version)
}

// Codex is the path of codex at that version; the newest if it is empty. It is the native program, not npm's wrapper.
func Codex(t testing.TB, version string) string {
	t.Helper()
	return Find(t, &codex.Descriptor, version)
}

// GH is the path of GitHub's CLI: of the pinned version if scripts/setup-gh has built that, else the one on the PATH. Tests that hold for any version use it.
func GH(t testing.TB) string {
	t.Helper()
	if path := installed(t, gh.Name, gh.Descriptor.Tested[0]); path != "" {
		return path
	}
	path, err := supervise.Look(gh.Name, "")
	if err != nil {
		missing(t, "gh is not installed; run: scripts/setup-gh")
	}
	return path
}

// PinnedGH is the path of GitHub's CLI at the version that is pinned, for tests of what other versions lack. Only `make test-full` builds it.
func PinnedGH(t testing.TB) string {
	t.Helper()
	version := gh.Descriptor.Tested[0]
	path := installed(t, gh.Name, version)
	if path == "" && Full() {
		missing(t, "gh %s is not built; run: scripts/setup-gh full", version)
	}
	if path == "" {
		t.Skipf("SKIPPED: gh %s is built only in make test-full; run: scripts/setup-gh full", version)
	}
	return path
}

// SDK is the path of claude's Agent SDK, a module for node.
func SDK(t testing.TB) string {
	t.Helper()
	return find(t, "sdk", NewestSDK) + ".mjs"
}

// CodexSDK is the path of codex's SDK, a module for node.
func CodexSDK(t testing.TB) string {
	t.Helper()
	return filepath.Join(filepath.Dir(find(t, "codexsdk", newestCodexSDK)), "dist", "index.js")
}

// Full says that `make test-full` runs: every scenario, and the older versions too.
func Full() bool { return os.Getenv("BELAY_TEST_FULL") != "" }

// OneOf reports whether a test tries the i-th of cases that are much alike: make test tries one of n, and make test-full all. Each start of a real CLI
// costs up to a second of CPU.
func OneOf(n, i int) bool { return Full() || i%n == 0 }

// Lean is for the environment of a real CLI. Claude's runtime otherwise spends a fifth of the CPU of a short run on compiling what it runs once, and on
// collecting garbage in parallel.
var Lean = []string{"BUN_JSC_useDFGJIT=0", "BUN_JSC_numberOfGCMarkers=1"}

func find(t testing.TB, name, version string) string {
	t.Helper()
	path := installed(t, name, version)
	if path == "" {
		missing(t, "%s %s is not installed; run: scripts/setup-clis full && scripts/setup-gh full", name, version)
	}
	return path
}

// installed is the path of what has been installed for tests; empty if it has not.
func installed(t testing.TB, name, version string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("%s is not for -short", name)
	}
	root, err := moduleRoot()
	must.OK(t, err)
	for _, dir := range []string{os.Getenv(extraVar), filepath.Join(root, ".clis")} {
		path := filepath.Join(dir, name+"-"+version, name)
		if info, err := os.Stat(path); dir != "" && err == nil && (info.Mode()&0o111 != 0 || strings.HasSuffix(name, "sdk")) {
			return path
		}
	}
	return ""
}

// missing skips the test, or fails it where everything has to be there.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatalf(format, args...)
	}
	t.Skipf("SKIPPED: "+format, args...)
}

// moduleRoot is the directory of go.mod, upward from where the test runs.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			err = os.ErrNotExist
		}
		dir = up
	}
	return "", err
}
