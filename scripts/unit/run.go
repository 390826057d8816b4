package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// maxFlaky is how many tests may fail once and pass when they are repeated.
const maxFlaky = 2

// maxRepeated is how many failed tests are repeated. Where more fail, something is wrong with more than a test.
const maxRepeated = 20

// group is packages that go test runs in the same way.
type group struct {
	dir        string // of its module; the present directory if empty
	flags      []string
	env        []string
	packages   []string
	leastCover float64 // percent; 0 if it does not matter
	keeps      bool    // go test may keep results: then what it costs, and what it leaves running, is not looked at
}

// runner runs groups of tests.
type runner struct {
	out   io.Writer
	self  string   // this executable
	costs string   // the file in which each package says what it has cost
	grace string   // how long processes may take to end after the tests, as a duration; the usual time if empty
	env   []string // for all groups
}

// run runs stages one after the other, the groups of each side by side, and then decides.
func (r *runner) run(ctx context.Context, stages [][]group) error {
	all := report{out: r.out}
	owner := map[string]group{} // of a package that has been run
	for _, stage := range stages {
		var each sync.WaitGroup
		errs := make([]error, len(stage))
		for i, g := range stage {
			each.Go(func() { errs[i] = r.test(ctx, &all, g) })
		}
		each.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		for name := range all.packages {
			if _, ok := owner[name]; !ok {
				owner[name] = ownerOf(name, stage)
			}
		}
	}
	failures := all.failures()
	flaky, failed := r.repeat(ctx, owner, failures)
	thin := thinCover(&all, owner)
	r.printCosts()
	for _, f := range failed {
		fmt.Fprintf(r.out, "failed: %v\n", f)
	}
	for _, line := range thin {
		fmt.Fprintf(r.out, "failed: %s\n", line)
	}
	for _, f := range flaky {
		fmt.Fprintf(r.out, "flaky: %v\n", f)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", all.passed+len(flaky), len(failed), all.skipped)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return decide(len(failed)+len(thin), len(flaky))
}

// decide says what becomes of a run with so many failures.
func decide(failed, flaky int) error {
	switch {
	case failed > 0:
		return errors.New("tests failed")
	case flaky > maxFlaky:
		return fmt.Errorf("%d tests are flaky, more than %d", flaky, maxFlaky)
	}
	return nil
}

// ownerOf is the group that has run a package: the one that names it, as far as import paths end with paths.
func ownerOf(name string, groups []group) group {
	for _, g := range groups {
		for _, p := range g.packages {
			if p = path.Join(g.dir, p); p != "." && strings.HasSuffix(name, "/"+p) {
				return g
			}
		}
	}
	for _, g := range groups {
		if slices.ContainsFunc(g.packages, func(p string) bool { return path.Clean(p) == "." }) {
			return g
		}
	}
	return groups[0]
}

// test has go test run a group. That tests fail is in the report, not in the error.
func (r *runner) test(ctx context.Context, to *report, g group, flags ...string) error {
	args := []string{"test", "-json"}
	if !g.keeps {
		args = append(args, "-exec", strconv.Quote(r.self)+" "+execArgument)
	}
	args = slices.Concat(args, g.flags, flags, g.packages)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = g.dir, os.Stderr
	cmd.Env = slices.Concat(os.Environ(), r.env, g.env, []string{costsVar + "=" + r.costs, graceVar + "=" + r.grace})
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	ran, err := to.read(out)
	err = errors.Join(err, ignoreExit(cmd.Wait()))
	if err == nil && !ran {
		err = fmt.Errorf("go %s: ran nothing", strings.Join(args, " "))
	}
	return err
}

// ignoreExit drops that go test ended with 1, as it does when tests fail.
func ignoreExit(err error) error {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		return nil
	}
	return err
}

// repeat runs each failed test again, alone, and says which passed then and which are failures.
func (r *runner) repeat(ctx context.Context, owner map[string]group, failures []failure) (flaky, failed []failure) {
	repeated := 0
	for _, f := range failures {
		if f.Why != "" || repeated == maxRepeated || ctx.Err() != nil {
			failed = append(failed, f)
			continue
		}
		repeated++
		fmt.Fprintf(r.out, "=== repeating %v\n", f)
		if again := r.again(ctx, owner[f.Package], f); again != nil {
			failed = append(failed, *again)
		} else {
			flaky = append(flaky, f)
		}
	}
	return flaky, failed
}

// again runs a test alone. It returns what is wrong with it; nil if it passes.
func (r *runner) again(ctx context.Context, g group, f failure) *failure {
	g.packages = []string{f.Package}
	said := report{out: r.out}
	if err := r.test(ctx, &said, g, "-count=1", "-run="+pattern(f.Test)); err != nil {
		f.Why = err.Error()
		return &f
	}
	if list := said.failures(); len(list) > 0 {
		f.Why = cmp.Or(list[0].Why, "twice")
		return &f
	}
	if t := said.of(f.Package).tests[f.Test]; t == nil || t.state != "pass" {
		f.Why = "not found when it was repeated"
		return &f
	}
	return nil
}

// pattern matches one test, or subtest, for go test -run.
func pattern(test string) string {
	parts := strings.Split(test, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	return strings.Join(parts, "/")
}

// thinCover names the packages that are covered too little.
func thinCover(all *report, owner map[string]group) (list []string) {
	for name, p := range all.packages {
		g := owner[name]
		if g.leastCover == 0 || p.failed {
			continue
		}
		if got, err := strconv.ParseFloat(strings.TrimSuffix(p.cover, "%"), 64); err != nil || got < g.leastCover {
			list = append(list, fmt.Sprintf("%s: its tests cover %s of it, less than %v%%", name, cmp.Or(p.cover, "nothing"), g.leastCover))
		}
	}
	slices.Sort(list)
	return list
}
