//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
)

// The rights that docs/fleet.md names are enough: for a machine that takes part, works and submits, and for one that only looks. That one is refused all else.
func TestRoles(t *testing.T) {
	docs, err := os.ReadFile("../../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(docs), -1)
	if len(blocks) != 2 {
		t.Fatalf("docs/fleet.md has %d pieces of SQL", len(blocks))
	}
	dsn := fleettest.Database(t)
	database := dsn[strings.LastIndex(dsn, "=")+1:]
	for _, block := range blocks {
		fleettest.Shared(t).Exec(t, database, block[1])
	}
	as := func(name, role string) *machine {
		m := newMachine(t, name, dsn)
		m.dsn = strings.Replace(m.dsn, "user=belay", "user="+role, 1)
		return m
	}
	ant, bee, eye := as("ant", "member"), as("bee", "member"), as("eye", "viewer")
	ant.work(0)
	bee.work(1)
	os.WriteFile(filepath.Join(ant.dir, "tasks.jsonl"), []byte("{\"id\":\"a\"}\n{\"id\":\"b\"}\n"), 0o600)
	if out, code := ant.run("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "true", "{id}"); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, out, bee.err)
	}
	if out, code := ant.run("gates", "hold", "api", "--until", "10m"); code != 0 {
		t.Fatal(out)
	}
	if !within(patience, func() bool { return bee.held("api", 0) > 0 }) {
		t.Errorf("bee does not know of the hold: %s%s", ant.err, bee.err)
	}
	for _, line := range []string{"fleet status", "ps --fleet", "gates --fleet", "budget --fleet", "stats --fleet", "log --fleet"} {
		if out, code := eye.run(strings.Fields(line)...); code != 0 || strings.Contains(out, "denied") {
			t.Errorf("belay %s: exit code %d, %s", line, code, out)
		}
	}
	for _, line := range []string{"fleet drain bee", "fleet join --name eye"} {
		if out, code := eye.run(strings.Fields(line)...); code == 0 || !strings.Contains(out, "permission denied") || !strings.Contains(out, "docs/fleet.md") {
			t.Errorf("belay %s: exit code %d, %s", line, code, out)
		}
	}
	for _, m := range []*machine{ant, bee} {
		if strings.Contains(m.err.String(), "denied") {
			t.Errorf("%s", m.err)
		}
	}
}
