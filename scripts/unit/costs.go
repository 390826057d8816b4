package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// cost is the CPU time of a package's tests, with all the processes that they started.
type cost struct {
	name string
	cpu  time.Duration
}

// addCost notes what the tests of the package in this directory have cost.
func addCost() {
	name := os.Getenv(costsVar)
	dir, err := os.Getwd()
	if name == "" || err != nil {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%d %s\n", childrenCPU(), dir)
}

// printCosts prints what each package has cost, largest first, down to a second.
func (r *runner) printCosts() {
	root, _ := os.Getwd()
	text, err := os.ReadFile(r.costs)
	if err != nil { // nothing was looked at
		fmt.Fprintf(r.out, "%.1f CPU seconds in all\n", childrenCPU().Seconds())
		return
	}
	sums := map[string]time.Duration{}
	for line := range strings.Lines(string(text)) {
		var cpu time.Duration
		number, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		fmt.Sscan(number, (*int64)(&cpu))
		if rel, err := filepath.Rel(root, dir); err == nil {
			dir = rel
		}
		sums[dir] += cpu
	}
	var list []cost
	var all, tests time.Duration
	for name, cpu := range sums {
		list = append(list, cost{name, cpu})
		tests += cpu
	}
	slices.SortFunc(list, func(a, b cost) int { return cmp.Or(cmp.Compare(b.cpu, a.cpu), strings.Compare(a.name, b.name)) })
	small := time.Duration(0)
	fmt.Fprintln(r.out, "CPU seconds of tests:")
	for _, c := range list {
		if c.cpu < time.Second {
			small += c.cpu
			continue
		}
		fmt.Fprintf(r.out, "%8.1f  %s\n", c.cpu.Seconds(), c.name)
	}
	fmt.Fprintf(r.out, "%8.1f  packages below one second\n", small.Seconds())
	if all = childrenCPU(); all > tests {
		fmt.Fprintf(r.out, "%8.1f  compiling and linking\n", (all - tests).Seconds())
	}
	fmt.Fprintf(r.out, "%8.1f  in all\n", max(all, tests).Seconds())
}
