package belayd_test

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/test/must"
)

// What both executables rely on when they make commands and flags of the table.
func TestCommands_AreWellFormed(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range belayd.Commands() {
		if seen[c.Name] {
			t.Errorf("%s is there twice", c.Name)
		}
		seen[c.Name] = true
		if found, ok := belayd.Find(c.Name); !ok || found.Name != c.Name {
			t.Errorf("%s is not found", c.Name)
		}
		if c.Hidden {
			continue
		}
		if c.Name[strings.LastIndex(c.Name, " ")+1:] != strings.Fields(c.Use)[0] || c.Summary == "" || c.Long == "" {
			t.Errorf("%s lacks help: %q, %q", c.Name, c.Use, c.Summary)
		}
		for line := range strings.Lines(c.Examples) {
			if !strings.HasPrefix(line, "  belay ") && !strings.HasSuffix(line, ":\n") {
				t.Errorf("%s: %q is neither an example that can be typed nor its label", c.Name, line)
			}
		}
		if c.Args.What != "" && !strings.HasPrefix(c.Args.Example, "belay "+c.Name+" ") {
			t.Errorf("%s takes a %s, of which there is no example", c.Name, c.Args.What)
		}
		checkFlags(t, c)
	}
	if _, ok := belayd.Find("nonsense"); ok {
		t.Error("nonsense is found")
	}
}

func checkFlags(t *testing.T, c belayd.Command) {
	names := map[string]bool{}
	for _, f := range c.Flags {
		if names[f.Name] {
			t.Errorf("%s has two flags --%s", c.Name, f.Name)
		}
		names[f.Name] = true
		switch {
		case f.Help == "":
			t.Errorf("%s --%s has no help", c.Name, f.Name)
		case f.Arg == "" && (f.Default != "" || f.Values != nil):
			t.Errorf("%s --%s takes nothing, but has values", c.Name, f.Name)
		case f.Closed && len(f.Values) < 2:
			t.Errorf("%s --%s takes one of nothing", c.Name, f.Name)
		}
		for _, v := range f.Values {
			if f.Closed && !strings.Contains(f.Help, v) {
				t.Errorf("%s --%s takes %s, and its help does not say so", c.Name, f.Name, v)
			}
		}
	}
}

// Commands with a document of their own have each flag in it. The flags of others are in docs/record.md, which scripts/reference makes.
func TestDocs_NameEveryFlag(t *testing.T) {
	documents := map[string]string{belayd.Rehearse: "rehearsal.md", belayd.RehearseTest: "testing.md", belayd.Certify: "testing.md", belayd.UI: "ui.md", belayd.Fleet: "fleet.md", "top": "top.md"}
	for _, c := range belayd.Commands() {
		own := cmp.Or(documents[c.Name], documents[strings.Fields(c.Name)[0]])
		if own == "" {
			continue
		}
		text, err := os.ReadFile("../../docs/" + own)
		must.OK(t, err)
		for _, f := range c.Flags {
			if !strings.Contains(string(text), "--"+f.Name) && !f.Hidden {
				t.Errorf("docs/%s does not name --%s", own, f.Name)
			}
		}
	}
}
