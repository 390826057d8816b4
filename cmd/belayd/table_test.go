package main

import (
	"maps"
	"slices"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/record"
)

// The commands that belay passes on are exactly those that belayd has.
func TestCommands_AreThoseOfTheTable(t *testing.T) {
	var names []string
	for _, c := range belayd.Commands() {
		if !c.Parent {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	if ours := slices.Sorted(maps.Keys(table().Commands)); !slices.Equal(names, ours) {
		t.Errorf("the table has %v, we %v", names, ours)
	}
}

// The words that flags take are those that the database knows.
func TestCommands_TakeWhatTheDatabaseKnows(t *testing.T) {
	flag := func(command, name string) belayd.Flag {
		c, _ := belayd.Find(command)
		i := slices.IndexFunc(c.Flags, func(f belayd.Flag) bool { return f.Name == name })
		return c.Flags[i]
	}
	var groups []string
	for _, g := range record.Groups {
		groups = append(groups, string(g))
	}
	if by := flag("stats", "by"); !slices.Equal(by.Values, groups) {
		t.Errorf("--by takes %v, the database adds up by %v", by.Values, groups)
	}
	if class := flag("log", "class"); !slices.Contains(class.Values, record.Failed) {
		t.Errorf("--class is completed with %v", class.Values)
	}
}
