//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The txtar scripts of a commit need the commands that the tests of that commit give them. So they are played by its own test
// executable, which builds belay and belayd when it starts; the go that it finds for that hands it those of either side.

// binVar names the directory of the executables that the false go hands out.
const binVar = "COMPARE_BIN"

// goMain takes the place of go build -o FILE PACKAGE. There are no executables with the race detector; the tests then
// do without.
func goMain(args []string) int {
	at := slices.Index(args, "-o")
	if len(args) < 4 || args[0] != "build" || at < 0 || slices.Contains(args, "-race") {
		fmt.Fprintln(os.Stderr, "compare: only go build -o FILE PACKAGE is known here")
		return 1
	}
	name := "belay"
	if filepath.Base(args[len(args)-1]) == "belayd" {
		name = "belayd"
	}
	if err := copyFile(filepath.Join(os.Getenv(binVar), name), args[at+1]); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		return 1
	}
	return 0
}

func copyFile(from, to string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	return extract(to, f, 0o755)
}

// txtar plays the txtar scripts of a commit.
type txtar struct {
	dir   string // of the tests, in the tree of the commit
	test  string // their executable
	goDir string // the directory of the false go
	tmp   string
}

const scriptTest = "TestScripts"

// newTxtar builds the tests of a commit, whose tree is given.
func newTxtar(ctx context.Context, tree, root string) (*txtar, error) {
	x := &txtar{dir: filepath.Join(tree, "cmd", "belay"), test: filepath.Join(root, "belay.test"), goDir: filepath.Join(root, "go"), tmp: filepath.Join(root, "txtar")}
	if err := os.MkdirAll(x.tmp, 0o755); err != nil {
		return nil, err
	}
	if err := link(x.goDir, "go"); err != nil {
		return nil, err
	}
	return x, run(ctx, x.dir, "go", "test", "-c", "-o", x.test, ".")
}

// scripts are the names of all.
func (x *txtar) scripts() (names []string) {
	files, _ := filepath.Glob(filepath.Join(x.dir, "testdata", "script", "*.txtar"))
	for _, file := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(file), ".txtar"))
	}
	return names
}

// play runs scripts with the executables in bin, and returns what those say that fail, by name. No names means all scripts.
func (x *txtar) play(ctx context.Context, bin string, names ...string) (map[string]string, error) {
	pattern := "^" + scriptTest + "$"
	if len(names) > 0 {
		pattern += "/^(" + strings.Join(names, "|") + ")$"
	}
	cmd := exec.CommandContext(ctx, x.test, "-test.run", pattern, "-test.timeout", "15m", "-test.paniconexit0")
	cmd.Dir = x.dir
	cmd.Env = append(os.Environ(), "PATH="+x.goDir+":"+os.Getenv("PATH"), binVar+"="+bin, "TMPDIR="+x.tmp)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || ctx.Err() != nil) {
		return nil, err
	}
	failed := failures(out.String())
	if err != nil && len(failed) == 0 {
		return nil, fmt.Errorf("the tests of the commit: %w\n%s", err, out.String())
	}
	return failed, nil
}

var failedLine = regexp.MustCompile(`^ +--- (FAIL|PASS|SKIP): ` + scriptTest + `/(\S+) \(`)

// failures takes the output of a test apart.
func failures(out string) map[string]string {
	failed := map[string]string{}
	name := ""
	for line := range strings.Lines(out) {
		if m := failedLine.FindStringSubmatch(line); m != nil {
			if name = ""; m[1] == "FAIL" {
				name = m[2]
				failed[name] = ""
			}
			continue
		}
		if !strings.HasPrefix(line, " ") {
			name = ""
		}
		if name != "" {
			failed[name] += strings.TrimSpace(line) + "\n"
		}
	}
	return failed
}

// compare plays all scripts with both sides and reports those that fail with the new one alone. One that passes at least once
// when it is played again is flaky.
func (x *txtar) compare(ctx context.Context, bins sides, to io.Writer) (t tally, err error) {
	all := x.scripts()
	t.played = len(all)
	old, err := x.play(ctx, bins.old)
	if err != nil {
		return t, err
	}
	new, err := x.play(ctx, bins.new)
	if err != nil {
		return t, err
	}
	for _, name := range all {
		why, fails := new[name]
		for i := 0; fails && i < repeats; i++ {
			again, err := x.play(ctx, bins.new, name)
			if err != nil {
				return t, err
			}
			_, fails = again[name]
		}
		before, failedBefore := old[name]
		switch {
		case fails && !failedBefore:
			t.differ++
			fmt.Fprintf(to, "\n%s.txtar fails with the new executables:\n%s", name, tail(why))
		case fails:
			fmt.Fprintf(to, "\n%s.txtar fails with both; with the old executables:\n%s", name, tail(before))
			t.both++
		case new[name] != "" || failedBefore:
			t.flaky++
			fmt.Fprintf(to, "\n%s.txtar is flaky:\n%s", name, tail(why+before))
		}
	}
	return t, nil
}

// tail is the end of what a script says, where the reason is.
func tail(text string) string {
	list := strings.Split(strings.TrimSpace(text), "\n")
	list = list[max(len(list)-12, 0):]
	for i, line := range list {
		list[i] = "    " + short(line) + "\n"
	}
	return strings.Join(list, "")
}
