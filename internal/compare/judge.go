//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A script whose outcomes differ is played again: once beside others, and then up to repeats times alone, when nothing
// disturbs its timing. Where hundreds differ only the first of them are.
const (
	repeats = 3
	alone   = 50
)

// sides are the directories of the executables.
type sides struct{ old, new string }

// match is one script, as both sides have played it.
type match struct {
	script      *script
	old, new    []outcome
	took        time.Duration
	differences []difference // that are there each time
	flaky       []difference // of the old side from itself, or of only some of the new ones
}

// play has both sides play the script once more.
func (m *match) play(ctx context.Context, t *theatre, bins sides, allowed allowances) error {
	begun := time.Now()
	for _, side := range []struct {
		name, bin string
		to        *[]outcome
	}{{"old", bins.old, &m.old}, {"new", bins.new, &m.new}} {
		o, err := t.play(ctx, m.script, side.bin, fmt.Sprintf("%s-%08d-%d", side.name, m.script.Seed, len(m.new)))
		if err != nil {
			return fmt.Errorf("script %d: %w", m.script.Seed, err)
		}
		*side.to = append(*side.to, o)
	}
	m.took += time.Since(begun)
	m.differences, m.flaky = judge(m.old, m.new)
	m.differences, m.flaky = slices.DeleteFunc(m.differences, allowed.has), slices.DeleteFunc(m.flaky, allowed.has)
	return nil
}

// playAgain repeats the match as long as there are differences.
func (m *match) playAgain(ctx context.Context, t *theatre, bins sides, allowed allowances, times int) error {
	for range times {
		if len(m.differences) == 0 {
			return nil
		}
		if err := m.play(ctx, t, bins, allowed); err != nil {
			return err
		}
	}
	return nil
}

// judge compares the outcomes of both sides, value by value. A value differs if it is the same in all of the
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
