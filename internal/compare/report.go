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

// compareAll plays the fault scripts, several at a time, and reports each that differs as soon as that is known.
func (t *theatre) compareAll(ctx context.Context, o options, recorded recordings, bins sides, allowed allowances, to io.Writer) (tally, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	seeds := make(chan uint64)
	go func() {
		defer close(seeds)
		for i := range o.scripts {
			select {
			case seeds <- o.seed + uint64(i):
			case <-ctx.Done():
				return
			}
		}
	}()
	total := tally{kinds: map[string]int{}}
	var mu sync.Mutex
	var players sync.WaitGroup
	for range max(o.parallel, 1) {
		players.Go(func() {
			for seed := range seeds {
				v, err := t.compare(ctx, generate(seed, recorded), bins, allowed)
				if err != nil {
					cancel(fmt.Errorf("script %d: %w", seed, err))
					return
				}
				mu.Lock()
				total.add(&v)
				v.report(to, o.verbose)
				mu.Unlock()
			}
		})
	}
	players.Wait()
	return total, context.Cause(ctx)
}

func (t *tally) add(v *verdict) {
	t.played++
	t.kinds[v.kind]++
	switch {
	case v.differs():
		t.differ++
	case len(v.differences) > 0:
		t.words++
	case len(v.flaky) > 0:
		t.flaky++
	}
}

// differs reports whether there is more to it than other words on stderr.
func (v *verdict) differs() bool {
	return slices.ContainsFunc(v.differences, func(d difference) bool { return !d.isWords() })
}

// most is how many differences of a script are shown.
const most = 8

func (v *verdict) report(w io.Writer, verbose bool) {
	list := v.differences
	if verbose {
		fmt.Fprintf(w, "script %d (%s) took %v\n", v.seed, v.kind, v.took.Round(time.Millisecond))
	}
	switch {
	case v.differs():
		fmt.Fprintf(w, "\nscript %d (%s) differs; play it alone: -only %d\n", v.seed, v.kind, v.seed)
	case len(v.differences) > 0:
		fmt.Fprintf(w, "\nscript %d (%s) says something else on stderr; play it alone: -only %d\n", v.seed, v.kind, v.seed)
	case len(v.flaky) > 0:
		if !verbose {
			return
		}
		fmt.Fprintf(w, "\nscript %d (%s) is flaky\n", v.seed, v.kind)
		list = v.flaky
	}
	for i, d := range list {
		if i == most {
			fmt.Fprintf(w, "    and %d more\n", len(list)-most)
			break
		}
		fmt.Fprintf(w, "    %s\n", d)
	}
}
