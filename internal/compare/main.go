//go:build linux

// Command compare compares the executables of a commit with those of the present tree. It plays the txtar scripts of the
// commit with both, and random fault scripts: programs that stand for claude, codex, gh and plain commands and do what the
// script says, under belay run with random flags. Stdout, exit codes, results, the log and what the programs were started
// with must be equal, but for ids, times and durations.
//
// See docs/development.md for how to use it.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
)

func main() {
	name := filepath.Base(os.Args[0])
	switch {
	case slices.Contains(actors, name) && os.Getenv(dirVar) != "":
		os.Exit(actMain(name))
	case name == "go" && os.Getenv(binVar) != "":
		os.Exit(goMain(os.Args[1:]))
	}
	syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{}) // some programs die by SIGSEGV
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	differ, err := compareMain(ctx, os.Args[1:])
	cancel()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(2)
	case differ:
		os.Exit(1)
	}
}

// options are what the command line says.
type options struct {
	scripts  int
	seed     uint64
	only     uint64
	parallel int
	allow    string
	txtar    bool
	show     bool
	verbose  bool
	commit   string
}

const help = `usage: scripts/compare [flags] COMMIT

Plays the txtar scripts of COMMIT and random fault scripts with the executables of COMMIT
and with those of the present tree, and reports what differs. Exit code 1: something does.

`

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("compare", flag.ContinueOnError)
	flags.IntVar(&o.scripts, "n", 1000, "how many fault scripts")
	flags.Uint64Var(&o.seed, "seed", 1, "of the first fault script; the others follow it")
	flags.Uint64Var(&o.only, "only", 0, "play only the fault script of this seed, and no txtar scripts")
	flags.IntVar(&o.parallel, "parallel", 2*runtime.NumCPU(), "how many fault scripts are played at the same time")
	flags.StringVar(&o.allow, "allow", "", "a `file` of regular expressions, one a line: differences whose line in the report matches are wanted")
	flags.BoolVar(&o.txtar, "txtar", true, "play the txtar scripts too")
	flags.BoolVar(&o.show, "show", false, "with -only: show the script instead of playing it; needs no COMMIT")
	flags.BoolVar(&o.verbose, "v", false, "show also how flaky scripts differ from themselves")
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), help)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() != 1 && !o.show {
		flags.Usage()
		return o, errors.New("which commit?")
	}
	o.commit = flags.Arg(0)
	return o, nil
}

func compareMain(ctx context.Context, args []string) (differ bool, err error) {
	o, err := parse(args)
	if err != nil {
		return false, err
	}
	allowed, err := readAllowances(o.allow)
	if err != nil {
		return false, err
	}
	tree, err := os.Getwd()
	if err != nil {
		return false, err
	}
	recorded, err := readRecordings(tree)
	if err != nil {
		return false, err
	}
	if o.show {
		enc := json.NewEncoder(os.Stdout)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		return false, enc.Encode(generate(o.only, recorded))
	}
	root, err := os.MkdirTemp("", "belay-compare-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return false, err
	}
	old := filepath.Join(root, "tree")
	bins := sides{filepath.Join(root, "bin", "old"), filepath.Join(root, "bin", "new")}
	fmt.Printf("building %s and the present tree\n", o.commit)
	if err := export(ctx, tree, o.commit, old); err != nil {
		return false, err
	}
	if err := errors.Join(build(ctx, old, bins.old), build(ctx, tree, bins.new)); err != nil {
		return false, err
	}
	var texts, faults tally
	if o.txtar && o.only == 0 {
		x, err := newTxtar(ctx, old, root)
		if err != nil {
			return false, err
		}
		fmt.Printf("playing the txtar scripts of %s\n", o.commit)
		if texts, err = x.compare(ctx, bins, os.Stdout); err != nil {
			return false, err
		}
	}
	if o.only != 0 {
		o.seed, o.scripts = o.only, 1
	}
	t := &theatre{root: filepath.Join(root, "play"), actors: filepath.Join(root, "actors")}
	if err := link(t.actors, actors...); err != nil {
		return false, err
	}
	fmt.Printf("playing %d fault scripts from seed %d on\n", o.scripts, o.seed)
	if faults, err = t.compareAll(ctx, o, recorded, bins, allowed, os.Stdout); err != nil {
		return false, err
	}
	fmt.Println()
	if o.txtar && o.only == 0 {
		texts.print(os.Stdout, "txtar scripts")
	}
	faults.print(os.Stdout, "fault scripts")
	return texts.differ+faults.differ > 0, nil
}
