//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"
)

// tally counts scripts.
type tally struct {
	played, differ, words, flaky, both int
	kinds                              map[string]int
}

func (t *tally) print(w io.Writer, what string) {
	fmt.Fprintf(w, "%s: %d played, %d differ, ", what, t.played, t.differ)
	if t.kinds != nil {
		fmt.Fprintf(w, "%d more only in what belay says on stderr, ", t.words)
	} else {
		fmt.Fprintf(w, "%d fail with both, ", t.both)
	}
	fmt.Fprintf(w, "%d flaky", t.flaky)
	for i, kind := range slices.Sorted(maps.Keys(t.kinds)) {
		fmt.Fprintf(w, "%s%d %s", []string{" (", ", "}[min(i, 1)], t.kinds[kind], kind)
	}
	if len(t.kinds) > 0 {
		fmt.Fprint(w, ")")
	}
	fmt.Fprintln(w)
}

// compareAll plays the fault scripts, several at a time, and then again those that differ. It reports what it finds.
func (t *theatre) compareAll(ctx context.Context, o options, recorded recordings, bins sides, allowed allowances, to io.Writer) (tally, error) {
	matches, err := t.playAll(ctx, o, recorded, bins, allowed)
	if err != nil {
		return tally{}, err
	}
	total := tally{kinds: map[string]int{}}
	for _, m := range matches {
		if len(m.differences) > 0 && total.differ+total.words < alone {
			if err := m.playAgain(ctx, t, bins, allowed, repeats); err != nil {
				return total, err
			}
		}
		total.add(m)
		m.report(to, o.verbose)
	}
	return total, nil
}

// playAll plays each script once, and once more if that differs.
func (t *theatre) playAll(ctx context.Context, o options, recorded recordings, bins sides, allowed allowances) ([]*match, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	matches := make([]*match, o.scripts)
	next := make(chan int)
	var players sync.WaitGroup
	for range max(o.parallel, 1) {
		players.Go(func() {
			for i := range next {
				m := &match{script: generate(o.seed+uint64(i), recorded)}
				matches[i] = m
				err := m.play(ctx, t, bins, allowed)
				if err == nil {
					err = m.playAgain(ctx, t, bins, allowed, 1)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range matches {
		select {
		case next <- i:
		case <-ctx.Done():
		}
	}
	close(next)
	players.Wait()
	return matches, context.Cause(ctx)
}

func (t *tally) add(m *match) {
	t.played++
	t.kinds[m.script.Kind]++
	switch {
	case m.differs():
		t.differ++
	case len(m.differences) > 0:
		t.words++
	case len(m.flaky) > 0:
		t.flaky++
	}
}

// differs reports whether there is more to it than other words on stderr.
func (m *match) differs() bool {
	return slices.ContainsFunc(m.differences, func(d difference) bool { return !d.isWords() })
}

// most is how many differences of a script are shown.
const most = 8

func (m *match) report(w io.Writer, verbose bool) {
	seed, list := m.script.Seed, m.differences
	if verbose {
		fmt.Fprintf(w, "script %d (%s) took %v\n", seed, m.script.Kind, m.took.Round(time.Millisecond))
	}
	switch {
	case m.differs():
		fmt.Fprintf(w, "\nscript %d (%s) differs; play it alone: -only %d\n", seed, m.script.Kind, seed)
	case len(m.differences) > 0:
		fmt.Fprintf(w, "\nscript %d (%s) says something else on stderr; play it alone: -only %d\n", seed, m.script.Kind, seed)
	case len(m.flaky) > 0 && verbose:
		fmt.Fprintf(w, "\nscript %d (%s) is flaky\n", seed, m.script.Kind)
		list = m.flaky
	}
	for i, d := range list {
		if i == most {
			fmt.Fprintf(w, "    and %d more\n", len(list)-most)
			break
		}
		fmt.Fprintf(w, "    %s\n", d)
	}
}
