// sixfaults plays six faults of an API to the real agent CLIs, on their own and under belay run, and makes the README's table
// of what came of it.
//
//	make faults                        # builds belay, installs the CLIs, and renews the table in README.md
//	go run ./scripts/sixfaults         # prints the table, with what the former has built and installed
//
// The API is the stand-in of belay rehearse on loopback; nothing is spent. It takes about eight minutes, nearly all of them
// waiting: the four runs of a fault go side by side.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/profile"
)

// The table stands between these lines.
const (
	begin = "<!-- six faults: made by make faults -->\n"
	end   = "<!-- six faults: end -->\n"
)

func main() {
	b := &bench{}
	flag.StringVar(&b.belay, "belay", "bin/belay", "the executable")
	flag.StringVar(&b.clis, "clis", ".clis", "where the agent CLIs are installed")
	flag.DurationVar(&b.limit, "limit", 2*time.Minute, "stop a CLI on its own after this time")
	into := flag.String("into", "", "write the table into this file, between its markers, instead of printing it")
	flag.Parse()
	if err := b.write(*into); err != nil {
		fmt.Fprintln(os.Stderr, "sixfaults:", err)
		os.Exit(1)
	}
}

// write makes the table and puts it into a file; on stdout if there is none.
func (b *bench) write(into string) error {
	for _, path := range []*string{&b.belay, &b.clis} { // the programs run in another directory
		abs, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = abs
	}
	table, err := b.table()
	if err != nil {
		return err
	}
	if into == "" {
		fmt.Print(table)
		return nil
	}
	text, err := os.ReadFile(into)
	if err != nil {
		return err
	}
	renewed, err := renew(string(text), table)
	if err != nil {
		return fmt.Errorf("%s: %w", into, err)
	}
	return os.WriteFile(into, []byte(renewed), 0o644)
}

// renew puts the table between the markers of a text.
func renew(text, table string) (string, error) {
	before, rest, found := strings.Cut(text, begin)
	_, after, ended := strings.Cut(rest, end)
	if !found || !ended {
		return "", errors.New("the markers of the table are missing")
	}
	return before + begin + table + end + after, nil
}

// table plays all faults.
func (b *bench) table() (string, error) {
	clis := agents()
	var text strings.Builder
	text.WriteString(header(clis))
	for i := range faults {
		outcomes, err := b.play(clis, &faults[i])
		if err != nil {
			return "", err
		}
		line := row(&faults[i], outcomes)
		fmt.Fprint(os.Stderr, line)
		text.WriteString(line)
	}
	text.WriteString(caption(clis, b.limit, time.Now()))
	return text.String(), nil
}

// play plays a fault to each CLI, on its own and with Belay.
func (b *bench) play(clis []*agent.Descriptor, f *fault) ([]outcome, error) {
	outcomes, errs := make([]outcome, 2*len(clis)), make([]error, 2*len(clis))
	var runs sync.WaitGroup
	for i := range outcomes {
		runs.Go(func() { outcomes[i], errs[i] = b.run(clis[i/2], f, i%2 == 1) })
	}
	runs.Wait()
	return outcomes, errors.Join(errs...)
}

// columns is how many agents a table can have that is read in a minute.
const columns = 2

// agents are the first CLIs of the registry that work for a model.
func agents() (list []*agent.Descriptor) {
	for _, cli := range profile.All() {
		if cli.IsAgent() && len(list) < columns {
			list = append(list, cli)
		}
	}
	return list
}
