// Command unit runs the tests of Belay as make test and make quick do. It repeats what has failed once, alone: a test that passes then is flaky, and
// two flaky tests do not fail the run. Nothing else is forgiven: not a race, a panic, a hang or a process left behind, and not a test that fails twice.
// At the end it says what each package has cost.
//
//	go run ./scripts/unit [-- FLAGS]   all tests, built with these flags of go test; some packages have to be covered
//	go run ./scripts/unit -quick       short tests, which need nothing but Go
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
)

// covered are the packages whose tests have to cover them, and leastCover by how many percent.
var covered = []string{".", "breaker", "gate", "internal/engine", "internal/supervise", "retry", "verdict"}

const leastCover = 90

func main() {
	if len(os.Args) > 2 && os.Args[1] == execArgument {
		os.Exit(execTests(os.Args[2:]))
	}
	quick := flag.Bool("quick", false, "run short tests only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
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
		return r.run(ctx, [][]group{{{flags: []string{"-short", "-vet=off"}, packages: packages}}})
	}
	return r.run(ctx, groups(packages, flags, os.Getenv("BELAY_TEST_FULL") != ""))
}

// groups are all tests. Coverage is measured in some packages, one at a time beside the others, which mostly wait for processes.
func groups(packages, flags []string, full bool) [][]group {
	timeout := "-timeout=25m"
	if full {
		timeout = "-timeout=90m" // all scenarios, of older versions too
	}
	flags = append([]string{"-vet=off", timeout}, flags...) // make check has vetted them
	env := []string{"CGO_ENABLED=1"}                        // the race detector needs it
	others := slices.DeleteFunc(slices.Clone(packages), func(p string) bool { return slices.Contains(covered, strings.TrimPrefix(p, "./")) })
	var measured []string
	for _, p := range covered {
		measured = append(measured, "./"+p)
	}
	return [][]group{
		{
			{flags: flags, packages: others, env: env},
			{flags: append([]string{"-cover", "-p=1"}, flags...), packages: measured, env: env, leastCover: leastCover},
		},
		{{dir: "tools", packages: []string{"./man", "./markdown"}}},
		{{dir: "browser", flags: []string{"-count=1"}, packages: []string{"."}}},
	}
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
