// Command unit runs the tests of Belay as make test and make quick do. It repeats what has failed once, alone: a test that passes then is flaky, and
// two flaky tests do not fail the run. Nothing else is forgiven: not a race, a panic, a hang or a process left behind, and not a test that fails twice.
// At the end it says what each package has cost.
//
//	go run ./scripts/unit [-- FLAGS]   all tests, built with these flags of go test; some packages have to be covered
//	go run ./scripts/unit -quick       short tests, which need nothing but Go; what has passed and has not changed is not run again
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// covered are the packages whose tests have to cover them, and leastCover by how many percent.
var covered = []string{".", "breaker", "gate", "internal/engine", "internal/supervise", "retry", "verdict"}

const leastCover = 90

// rooms are the packages that the tests of internal/engine cover with it: they are its stages.
const rooms = "./internal/engine/..."

// outside are the packages whose tests only start Belay and look at what it does. The race detector is in executables that they start
// (internal/built), and would find nothing in the tests themselves.
var outside = []string{"cmd/belay", "internal/e2e/agents", "internal/e2e/hooks", "internal/e2e/mcp", "internal/e2e/record", "internal/e2e/release", "internal/e2e/smoke", "internal/e2e/upgrade"}

// sequential are the packages that start no goroutine, in which the race detector has nothing to find and takes up to ten times the CPU. What they are used for at
// the same time is in the tests of those that do so. Those of commands are too: what a command does at the same time is in the packages that it calls, and in
// executables that the tests of cmd/belay start, and to link all of Belay with the race detector for each of thirty commands takes twice as long.
// make test-full watches them all.
var sequential = []string{
	"internal/agent", "internal/agent/claude", "internal/agent/codex", "internal/agent/gemini", "internal/agent/generic", "internal/agent/history",
	"internal/agent/opencode", "internal/belayd", "internal/belayd/request", "internal/certificate", "internal/config", "internal/engine/session",
	"internal/fleetpipe", "internal/gatefile", "internal/label", "internal/mcp/wire", "internal/notify", "internal/outcome", "internal/overview",
	"internal/price", "internal/printable", "internal/profile", "internal/quota", "internal/redact", "internal/rehearse/rehearsal", "internal/shim",
	"internal/signame", "internal/state", "internal/trace", "internal/when", "scripts/api", "scripts/arrows", "scripts/reference",
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == execArgument {
		os.Exit(execTests(os.Args[2:]))
	}
	quick := flag.Bool("quick", false, "run short tests only")
	flag.Parse()
	// Where one is ignored, as in the background of a shell or under nohup, tests that send it would hang. What is caught here has its usual effect there.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGHUP, syscall.SIGTERM)
	defer stop()
	if err := work(ctx, *quick, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(ctx context.Context, quick bool, flags []string) error {
	packages, err := list(ctx)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "belay-unit-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	// What several packages run is linked once (internal/built).
	r := runner{out: os.Stdout, self: self, costs: filepath.Join(dir, "costs"), env: []string{"BELAY_TEST_BUILT=" + dir}}
	if quick {
		return r.run(ctx, [][]group{{{flags: []string{"-short", "-vet=off"}, packages: packages, keeps: true}}})
	}
	return r.run(ctx, groups(packages, flags, os.Getenv("BELAY_TEST_FULL") != ""))
}

// groups are all tests: inside with these flags, some of them with coverage, and outside and what is sequential as executables are built. Each group has one package at a time beside the
// others, most of which wait for processes; that with the most packages has two.
func groups(packages, flags []string, full bool) [][]group {
	timeout := "-timeout=25m"
	unwatched := slices.Concat(outside, sequential)
	for _, p := range packages {
		if p = strings.TrimPrefix(p, "./"); strings.HasPrefix(p, "internal/command/") {
			unwatched = append(unwatched, p)
		}
	}
	if full {
		timeout = "-timeout=90m" // all scenarios, of older versions too
		unwatched = outside
	}
	common := []string{"-vet=off", "-p=1", timeout} // make check has vetted them
	flags = append(flags, common...)
	env := []string{"CGO_ENABLED=1"} // the race detector needs it
	inside := slices.DeleteFunc(slices.Clone(packages), func(p string) bool {
		return slices.Contains(covered, strings.TrimPrefix(p, "./")) || slices.Contains(unwatched, strings.TrimPrefix(p, "./"))
	})
	alone := slices.DeleteFunc(slices.Clone(covered), func(p string) bool { return p == "internal/engine" })
	return [][]group{
		{
			{flags: append(slices.Clone(flags), "-p=2"), packages: inside, env: env},
			{flags: append([]string{"-cover"}, flags...), packages: paths(alone), env: env, leastCover: leastCover},
			{flags: append([]string{"-cover", "-coverpkg=" + rooms}, flags...), packages: []string{"./internal/engine"}, env: env, leastCover: leastCover},
			{flags: common, packages: paths(unwatched)},
		},
		{{dir: "tools", flags: []string{"-vet=off"}, packages: []string{"./dist", "./man", "./markdown"}}},
		{{dir: "browser", flags: []string{"-vet=off", "-count=1"}, packages: []string{"."}}},
	}
}

// paths are packages of this module as go test takes them.
func paths(packages []string) (list []string) {
	for _, p := range packages {
		list = append(list, "./"+p)
	}
	return list
}

// list is every package of the module, as a path that begins with a dot.
func list(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-f", "{{.Dir}}", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	dirs := strings.Fields(string(out))
	for i, dir := range dirs {
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return nil, err
		}
		dirs[i] = "./" + filepath.ToSlash(rel)
	}
	return dirs, nil
}
