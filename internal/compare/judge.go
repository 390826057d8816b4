//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// repeats is how often a script is played again whose outcomes differ.
const repeats = 3

// verdict is what the outcomes of one script come to.
type verdict struct {
	seed        uint64
	kind        string
	differences []difference // that are there each time
	took        time.Duration
	flaky       []difference // of the old one from itself, or of only some of the new ones
}

// sides are the directories of the executables.
type sides struct{ old, new string }

// compare plays a script with both sides. Where they differ it plays it again: what the old side does not do the same way each
// time is no difference.
func (t *theatre) compare(ctx context.Context, s *script, bins sides, allowed allowances) (v verdict, err error) {
	v.seed, v.kind = s.Seed, s.Kind
	begun := time.Now()
	defer func() { v.took = time.Since(begun) }()
	var old, new []outcome
	for round := range 1 + repeats {
		for i, bin := range []string{bins.old, bins.new} {
			o, err := t.play(ctx, s, bin, fmt.Sprintf("%s-%08d-%d", []string{"old", "new"}[i], s.Seed, round))
			if err != nil {
				return v, err
			}
			if i == 0 {
				old = append(old, o)
			} else {
				new = append(new, o)
			}
		}
		v.differences, v.flaky = judge(old, new)
		v.differences, v.flaky = slices.DeleteFunc(v.differences, allowed.has), slices.DeleteFunc(v.flaky, allowed.has)
		if len(v.differences) == 0 {
			break
		}
	}
	return v, nil
}

// judge holds the outcomes of both sides against each other, value by value. A value differs if it is the same in all of the
// old outcomes and in none of the new ones.
func judge(old, new []outcome) (differences []difference, flaky []difference) {
	for _, name := range names(slices.Concat(old, new)...) {
		values := func(all []outcome) (list []string) {
			for _, o := range all {
				list = append(list, o.get(name))
			}
			return list
		}
		was, is := values(old), values(new)
		switch {
		case same(was) && same(is) && was[0] == is[0]:
		case same(was) && !slices.Contains(is, was[0]):
			differences = append(differences, difference{name, was[0], is[0]})
		default:
			all := slices.Concat(was, is)
			other := slices.IndexFunc(all, func(s string) bool { return s != all[0] })
			flaky = append(flaky, difference{name, all[0], all[other]})
		}
	}
	return differences, flaky
}

func same(list []string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return s != list[0] })
}
