//go:build unix

package jobs_test

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// A batch that cannot begin because PostgreSQL is starting, has no connection left or is away ends with 75: the same command works later.
func TestBatch_PostgreSQLNotReady(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	server := fleettest.Shared(t)
	server.Exec(t, "postgres", "create role crowded login connection limit 0")
	t.Cleanup(func() { server.Exec(t, "postgres", "drop role crowded") })
	starting, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	defer starting.Close()
	go func() {
		for {
			conn, err := starting.Accept()
			if err != nil {
				return
			}
			conn.Read(make([]byte, 1024))
			said := "SFATAL\x00VFATAL\x00C57P03\x00Mthe database system is starting up\x00\x00"
			conn.Write([]byte("E\x00\x00\x00" + string(rune(4+len(said))) + said))
			conn.Close()
		}
	}()
	port := strconv.Itoa(starting.Addr().(*net.TCPAddr).Port)
	ant := newMachine(t, "ant", dsn)
	os.WriteFile(filepath.Join(ant.dir, "tasks.txt"), []byte("hello\n"), 0o600)
	for want, dsn := range map[string]string{
		"too many connections":    strings.Replace(dsn, "user=belay", "user=crowded", 1),
		"is starting up":          "host=127.0.0.1 port=" + port + " user=belay dbname=x sslmode=disable",
		"cannot reach PostgreSQL": "host=127.0.0.1 port=1 user=belay dbname=x sslmode=disable",
	} {
		ant.dsn = dsn
		if out, code := ant.run("batch", "--fleet", "tasks.txt", "--", "true"); code != 75 || !strings.Contains(out, want) {
			t.Errorf("exit code %d: %s", code, out)
		}
	}
}

// On a worker, the flags of a batch cannot allow more than its own settings do, and one that a job may not give is refused before anything runs.
func TestBatch_FlagsOnlyRestrict(t *testing.T) {
	t.Parallel()
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	must.OK(t, os.WriteFile(filepath.Join(bee.dir, "config/belay/config.toml"), []byte("max_retries = 1\n[fleet]\nallow = [\"generic\"]\n"), 0o600))
	bee.work(1)
	os.WriteFile(filepath.Join(ant.dir, "tasks.txt"), []byte("hello\n"), 0o600)
	starts := filepath.Join(ant.dir, "starts")
	out, code := ant.run("batch", "--fleet", "--max-retries", "5", "--base-delay", "1ms", "tasks.txt", "-o", "many.jsonl", "--", "sh", "-c", "echo x >> "+starts+"; exit 1")
	if data, _ := os.ReadFile(starts); code != 1 || string(data) != "x\nx\n" {
		t.Errorf("exit code %d, begun %q: %s%s", code, data, out, bee.err)
	}
	out, code = ant.run("batch", "--fleet", "--no-gate", "tasks.txt", "-o", "none.jsonl", "--", "sh", "-c", "echo x >> "+starts)
	list := readResults(t, filepath.Join(ant.dir, "none.jsonl"))
	if data, _ := os.ReadFile(starts); code != 1 || len(list) != 1 || !strings.Contains(list[0].Error, "jobs may not set --no-gate") || string(data) != "x\nx\n" {
		t.Errorf("exit code %d, begun %q: %s%s\n%+v", code, data, out, bee.err, list)
	}
}
