package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == execArgument {
		os.Exit(execTests(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// bodies are tests that go wrong in all the ways that the runner tells apart, and what it says of each.
var bodies = map[string]struct{ body, want string }{
	"once":    {`once(t)`, `flaky: sample/once TestIt\n`},
	"below":   {`t.Run("good", func(*testing.T) {}); t.Run("a b/(c)", once)`, `flaky: sample/below TestIt/a_b/\(c\)\n`},
	"always":  {`t.Error("wrong again")`, `failed: sample/always TestIt \(twice\)\n`},
	"race":    {`n, done := 0, make(chan int); go func() { n++; close(done) }(); n++; <-done; _ = n`, `failed: sample/race TestIt \(race\)\n`},
	"panics":  {`panic("dead")`, `failed: sample/panics TestIt \(panic\)\n`},
	"hang":    {`select {}`, `failed: sample/hang TestIt \((hang|panic)\)\n`},
	"aside":   {`defer os.Exit(3)`, `failed: sample/aside TestIt \(did not end\)\n`},
	"outside": {`t.Cleanup(func() { go func() { os.Exit(3) }(); select {} })`, `failed: sample/outside TestIt \(did not end\)\n`},
	"left":    {`if exec.Command("sh", "-c", "sleep 300 >/dev/null 2>&1 &").Run() != nil { t.Fatal() }`, `failed: sample/left \(left a process behind\)\n`},
	"broken":  {`undefined()`, `failed: sample/broken.* \(does not build\)\n`},
}

const source = `package it

import (
	"os"
	"os/exec"
	"testing"
)

// once fails the first time.
func once(t *testing.T) {
	if f, err := os.OpenFile("seen", os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		f.Close()
		t.Fatal("not this time")
	}
}

func TestIt(t *testing.T) {
	%s
}

func TestGood(*testing.T) { _, _ = once, exec.Command }
`

// play runs the tests of these names as a module of their own, and returns what was said and the error.
func play(t *testing.T, names ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module sample\n\ngo 1.26\n")
	race := group{dir: dir, flags: []string{"-vet=off", "-timeout=1m", "-race"}, env: []string{"CGO_ENABLED=1", "GOFLAGS=-gcflags=all=-dwarf=false"}}
	hang := race
	hang.flags = []string{"-vet=off", "-timeout=5s"}
	for _, name := range names {
		write(name+"/it_test.go", fmt.Sprintf(source, bodies[name].body))
		if name == "hang" {
			hang.packages = append(hang.packages, "./"+name)
		} else {
			race.packages = append(race.packages, "./"+name)
		}
	}
	groups := []group{race}
	if len(hang.packages) > 0 {
		groups = append(groups, hang)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	r := runner{out: &said, self: self, costs: filepath.Join(dir, "costs"), grace: "500ms"}
	err = r.run(t.Context(), [][]group{groups})
	return said.String(), err
}

func needsRace(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it compiles tests with the race detector")
	}
	if _, err := exec.LookPath("cc"); err != nil && runtime.GOOS == "linux" {
		t.Skip("SKIPPED: there is no C compiler for the race detector")
	}
}

// What fails once is named and forgiven, twice in a run.
func TestRun_TwoFlaky(t *testing.T) {
	needsRace(t)
	said, err := play(t, "once", "below")
	if err != nil {
		t.Errorf("error %v", err)
	}
	for _, name := range []string{"once", "below"} {
		if !regexp.MustCompile(`(?m)^` + bodies[name].want).MatchString(said) {
			t.Errorf("nothing says %s", bodies[name].want)
		}
	}
	if !strings.Contains(said, "not this time") || !strings.HasSuffix(said, "5 passed, 0 failed, 0 skipped\n") || !strings.Contains(said, "CPU seconds of tests:") {
		t.Error("it does not say why, how many or what it cost")
	}
	if t.Failed() {
		t.Log(said)
	}
}

// Everything else fails the run, and is named for what it is: one that fails twice, races, panics, hangs, ends the process, leaves one
// behind or does not build.
func TestRun_Fails(t *testing.T) {
	needsRace(t)
	var names []string
	for name := range bodies {
		if name != "left" || runtime.GOOS == "linux" {
			names = append(names, name)
		}
	}
	said, err := play(t, names...)
	if err == nil {
		t.Error("no error")
	}
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + bodies[name].want).MatchString(said) {
			t.Errorf("%s: nothing says %s", name, bodies[name].want)
		}
	}
	if t.Failed() {
		t.Log(said)
	}
}

// Two flaky tests are forgiven, a third is not.
func TestDecide(t *testing.T) {
	for _, tt := range []struct {
		failed, flaky int
		ok            bool
	}{{0, 0, true}, {0, 2, true}, {0, 3, false}, {1, 0, false}} {
		if err := decide(tt.failed, tt.flaky); (err == nil) != tt.ok {
			t.Errorf("%d failed, %d flaky: %v", tt.failed, tt.flaky, err)
		}
	}
}

func TestThinCover(t *testing.T) {
	all := &report{packages: map[string]*packageReport{"m/a": {cover: "90.0%"}, "m/b": {cover: "89.9%"}, "m/c": {}, "m/d": {cover: "1.0%"}}}
	asked := group{leastCover: 90}
	got := thinCover(all, map[string]group{"m/a": asked, "m/b": asked, "m/c": asked, "m/d": {}})
	if want := "m/b: its tests cover 89.9% of it, less than 90%, m/c: its tests cover nothing of it, less than 90%"; strings.Join(got, ", ") != want {
		t.Errorf("got %q", got)
	}
}

// What is not watched by the race detector has nothing that it would find. A package that is gone fails too.
func TestSequential(t *testing.T) {
	goroutine := regexp.MustCompile(`(?m)^\s*go [a-z]|\.Go\(|\.Parallel\(`)
	for _, name := range sequential {
		files, _ := filepath.Glob(filepath.Join("../..", name, "*.go"))
		if len(files) == 0 {
			t.Errorf("there is no package %s", name)
		}
		for _, file := range files {
			if text, err := os.ReadFile(file); err != nil || goroutine.Match(text) {
				t.Errorf("%s starts a goroutine: take %s out of the list. %v", file, name, err)
			}
		}
	}
}
