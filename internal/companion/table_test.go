package companion

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
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
	if ours := slices.Sorted(maps.Keys(commands)); !slices.Equal(names, ours) {
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

func TestParse(t *testing.T) {
	a, err := parse("log", strings.Fields("--since=2h --follow=true -n=5 -- 1f0c9a3e"))
	must.OK(t, err)
	if a.text("since") != "2h" || !a.on("follow") || a.on("json") || a.text("n") != "5" || a.text("until") != "" || !slices.Equal(a.rest, []string{"1f0c9a3e"}) {
		t.Errorf("%v %v", a.flags, a.rest)
	}
	if a.has("csv") || a.on("csv") {
		t.Error("log has no --csv")
	}
	if a, err = parse("log", nil); err != nil || a.text("n") != "20" {
		t.Errorf("-n is %q, %v", a.text("n"), err)
	}
	for line, want := range map[string]string{
		"log --nonsense": "flag provided but not defined: -nonsense", "stats --csv=maybe": `invalid boolean value "maybe"`, "events x": "belay events takes no arguments",
	} {
		name, rest, _ := strings.Cut(line, " ")
		if _, err := parse(name, strings.Fields(rest)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
