//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// The rights that docs/fleet.md names are enough: for a machine that takes part, works and submits, and for one that only looks. That one is refused all else.
func TestRoles(t *testing.T) {
	docs, err := os.ReadFile("../../../docs/fleet.md")
	must.OK(t, err)
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(docs), -1)
	if len(blocks) != 3 {
		t.Fatalf("docs/fleet.md has %d pieces of SQL", len(blocks))
	}
	dsn := fleettest.Database(t)
	database := dsn[strings.LastIndex(dsn, "=")+1:]
	server := fleettest.Shared(t)
	for _, block := range blocks[:2] {
		server.Exec(t, database, block[1])
	}
	server.Exec(t, database, "create role passerby login")
	t.Cleanup(func() { server.Exec(t, "postgres", "drop role passerby") })
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
	// What belay does not do, these roles cannot do either.
	for role, statements := range map[string][]string{
		"viewer": {"insert into belay.gate (key, machine) values ('x', 'eye')", "update belay.gate set state = null", "delete from belay.job", "update belay.machine set draining = true",
			"insert into belay.river_job (kind, max_attempts) values ('belay', 1)", "update belay.setting set value = ''", "select nextval('belay.generation')", "do $$ begin lock table belay.gate; end $$", "create table belay.mine (n integer)"},
		"passerby": {"select * from belay.gate", "select * from belay.job", "select nextval('belay.generation')", "insert into belay.gate (key, machine) values ('x', 'eye')", "create schema mine"},
	} {
		conn, err := pgx.Connect(t.Context(), strings.Replace(dsn, "user=belay", "user="+role, 1))
		must.OK(t, err)
		for _, sql := range statements {
			if _, err := conn.Exec(t.Context(), sql); err == nil || !strings.Contains(err.Error(), "permission denied") {
				t.Errorf("%s: %s: %v", role, sql, err)
			}
		}
		conn.Close(t.Context())
	}
	// Once the database is locked, those that belong to it still get in, and others do not.
	lock := strings.NewReplacer("database belay", "database "+database).Replace(blocks[2][1])
	server.Exec(t, database, lock)
	for role, may := range map[string]bool{"member": true, "viewer": true, "passerby": false} {
		conn, err := pgx.Connect(t.Context(), strings.Replace(dsn, "user=belay", "user="+role, 1))
		if may != (err == nil) || err != nil && !strings.Contains(err.Error(), "permission denied for database") {
			t.Errorf("%s connects: %v", role, err)
		}
		if err == nil {
			conn.Close(t.Context())
		}
	}
	for _, m := range []*machine{ant, bee} {
		if strings.Contains(m.err.String(), "denied") {
			t.Errorf("%s", m.err)
		}
	}
}

// Any role that can connect can send notes by River's channels too. They cancel no job, pause no queue, and have no machine take more than there is.
func TestNotes_OfStrangers(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	server := fleettest.Shared(t)
	server.Exec(t, "postgres", "create role stranger login")
	t.Cleanup(func() { server.Exec(t, "postgres", "drop role stranger") })
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	bee.work(2)
	os.WriteFile(filepath.Join(ant.dir, "one.txt"), []byte("one\n"), 0o600)
	os.WriteFile(filepath.Join(ant.dir, "two.txt"), []byte("two\n"), 0o600)
	begun, end := filepath.Join(ant.dir, "begun"), filepath.Join(ant.dir, "end")
	one := ant.start("batch", "--fleet", "one.txt", "-o", "one.jsonl", "--", "sh", "-c", "touch "+begun+"; while [ ! -e "+end+" ]; do sleep 0.05; done")
	if !within(patience, func() bool { _, err := os.Stat(begun); return err == nil }) {
		t.Fatalf("it does not begin: %s%s", one.out, bee.err)
	}
	conn, err := pgx.Connect(t.Context(), strings.Replace(dsn, "user=belay", "user=stranger", 1))
	must.OK(t, err)
	defer conn.Close(t.Context())
	for _, note := range [][2]string{
		{"belay.river_control", `{"action":"cancel","job_id":1,"queue":"jobs"}`},
		{"belay.river_control", `{"action":"pause","queue":"*"}`},
		{"belay.river_leadership", `{"action":"request_resign","leader_id":""}`},
		{"belay.river_insert", `{"queue":"jobs"}`}, {"belay.river_insert", "{"},
	} {
		if _, err := conn.Exec(t.Context(), "select pg_notify($1, $2)", note[0], note[1]); err != nil {
			t.Fatal(err)
		}
	}
	// By the time that this job runs, the worker has heard all of them.
	if out, code := ant.run("batch", "--fleet", "two.txt", "-o", "two.jsonl", "--", "true"); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, bee.err)
	}
	os.WriteFile(end, nil, 0o600)
	if out, code := one.wait(); code != 0 {
		t.Errorf("exit code %d: %s%s", code, out, bee.err)
	}
	if list := readResults(t, filepath.Join(ant.dir, "one.jsonl")); len(list) != 1 || list[0].State != "done" || list[0].Tries != 0 {
		t.Errorf("%+v", list)
	}
}
