package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
)

// event is a line of go test -json.
type event struct {
	Action, Package, ImportPath, Test, Output string
}

// report is what go test says of some packages while it runs them.
type report struct {
	mu       sync.Mutex
	out      io.Writer
	packages map[string]*packageReport
	broken   []string // what could not be built
	passed   int
	skipped  int
}

// packageReport is what it says of one.
type packageReport struct {
	tests  map[string]*testReport
	said   []string // what its tests have printed at the start of a line that is not a test's own
	failed bool
	cover  string // "91.2%"
}

type testReport struct {
	state  string // run, pass, fail, skip
	output []string
}

// read takes in all that go test prints, and passes on what a person wants to see: a line a package, and what failed tests have said. It reports whether
// there was a package to test, or one that does not build.
func (r *report) read(from io.Reader) (ran bool, err error) {
	lines := bufio.NewReader(from)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				r.mu.Lock()
				fmt.Fprintf(r.out, "%s", line)
				r.mu.Unlock()
			} else {
				ran = ran || e.Package != "" || e.Action == "build-fail"
				r.take(e)
			}
		}
		if err == io.EOF {
			return ran, nil
		} else if err != nil {
			return ran, err
		}
	}
}

func (r *report) take(e event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Action == "build-output":
		fmt.Fprint(r.out, e.Output)
	case e.Action == "build-fail":
		r.broken = append(r.broken, e.ImportPath)
	case e.Package == "":
	case e.Test == "":
		r.ofPackage(e)
	default:
		r.ofTest(e)
	}
}

func (r *report) of(name string) *packageReport {
	if r.packages == nil {
		r.packages = map[string]*packageReport{}
	}
	p := r.packages[name]
	if p == nil {
		p = &packageReport{tests: map[string]*testReport{}}
		r.packages[name] = p
	}
	return p
}

func (r *report) ofPackage(e event) {
	p := r.of(e.Package)
	switch e.Action {
	case "output":
		if _, after, ok := strings.Cut(e.Output, "coverage: "); ok {
			p.cover, _, _ = strings.Cut(after, " ")
		}
		switch {
		case e.Output == "PASS\n" || e.Output == "FAIL\n" || strings.HasPrefix(e.Output, "coverage: ") || strings.HasPrefix(e.Output, "?"):
		default:
			p.said = append(p.said, e.Output)
			fmt.Fprint(r.out, e.Output)
		}
	case "fail":
		p.failed = true
	}
}

func (r *report) ofTest(e event) {
	p := r.of(e.Package)
	t := p.tests[e.Test]
	if t == nil {
		t = &testReport{state: "run"}
		p.tests[e.Test] = t
	}
	switch e.Action {
	case "output":
		t.output = append(t.output, e.Output)
	case "pass":
		r.passed++
		fallthrough
	case "skip":
		if t.state, t.output = e.Action, nil; e.Action == "skip" {
			r.skipped++
		}
	case "fail":
		t.state = "fail"
		fmt.Fprint(r.out, strings.Join(t.output, ""))
	}
}

// failure is a test that failed, or a package without one that did.
type failure struct {
	Package, Test string
	Why           string // what makes it more than a failed test: "race", "panic", …; empty if it may be repeated
}

func (f failure) String() string {
	name := f.Package
	if f.Test != "" {
		name += " " + f.Test
	}
	if f.Why != "" {
		name += " (" + f.Why + ")"
	}
	return name
}

// signs are lines by which a failure is more than a failed assertion.
var signs = []struct{ line, why string }{
	{leftBehind, "left a process behind"},
	{"Test I/O incomplete", "left a process behind"},
	{"*** Test killed", "hang"},
	{"panic: test timed out", "hang"},
	{"WARNING: DATA RACE", "race"},
	{"race detected during execution of test", "race"},
	{"panic: ", "panic"},
	{"fatal error: ", "panic"},
}

// sign is the first of the signs, in their order, that the lines have. Races are reported inside the output of a test, by indented lines too.
func sign(lines []string) string {
	for _, s := range signs {
		for _, line := range lines {
			if strings.HasPrefix(line, s.line) || s.why == "race" && strings.Contains(line, s.line) {
				return s.why
			}
		}
	}
	return ""
}

// failures are the tests that failed, without those in which only a subtest did.
func (r *report) failures() []failure {
	var list []failure
	for _, name := range r.broken {
		list = append(list, failure{Package: name, Why: "does not build"})
	}
	for name, p := range r.packages {
		if !p.failed {
			continue
		}
		found := p.failures(name)
		if len(found) == 0 && !slices.ContainsFunc(r.broken, func(b string) bool { return strings.HasPrefix(b+" ", name+" ") }) {
			found = []failure{{Package: name, Why: cmp.Or(sign(p.said), "failed outside its tests")}}
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b failure) int {
		return cmp.Or(strings.Compare(a.Package, b.Package), strings.Compare(a.Test, b.Test))
	})
	return list
}

func (p *packageReport) failures(name string) []failure {
	var list []failure
	whole := sign(p.said)
	for test, t := range p.tests {
		why := sign(t.output)
		switch {
		case t.state == "run": // and it never ended
			why = cmp.Or(why, whole, "did not end")
		case t.state != "fail":
			continue
		case p.failsBelow(test) && why == "":
			continue
		}
		list = append(list, failure{name, test, why})
	}
	if whole != "" && !slices.ContainsFunc(list, func(f failure) bool { return f.Why != "" }) {
		list = append(list, failure{Package: name, Why: whole})
	}
	return list
}

// failsBelow reports whether a subtest of the test failed.
func (p *packageReport) failsBelow(test string) bool {
	for other := range maps.Keys(p.tests) {
		if strings.HasPrefix(other, test+"/") && p.tests[other].state == "fail" {
			return true
		}
	}
	return false
}
