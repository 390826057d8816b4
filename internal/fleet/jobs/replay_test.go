//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// encrypted is a farm whose machines have the fleet's key.
func encrypted(t *testing.T) *farm {
	t.Helper()
	f := newFarm(t, fleettest.Empty(t))
	if out, code := f.ant.run("fleet", "init"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	data, err := os.ReadFile(filepath.Join(f.ant.dir, "config/belay/fleet.key"))
	must.OK(t, err)
	for _, m := range []*machine{f.bee, f.cow} {
		fleettest.Put(t, m.dir, "config/belay/fleet.key", string(data))
	}
	return f
}

// A payload that was finished is not run again on the same machine, also after a restart of it: PostgreSQL may have lost the result, and a member may put the row back. The
// result that there was comes to the submitter, a large one too. A task that is run again on purpose is.
func TestReplay_NotRunAgain(t *testing.T) {
	t.Parallel()
	f := encrypted(t)
	f.bee.work(1)
	script := `echo ran >> ` + f.dir + `/ran; while ! test -e ` + f.dir + `/go; do sleep 0.05; done; if test "$1" = large; then head -c 1500000 /dev/zero | tr '\0' x; else echo "$1 $$"; test -e ` + f.dir + `/good; fi`
	start := func(flags ...string) {
		f.batch = f.ant.start(append(append([]string{"batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl"}, flags...), "--", "sh", "-c", script, "-", "{id}")...)
	}
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", `{"id":"large"}`+"\n"+`{"id":"small"}`+"\n")
	start()
	if !within(patience, func() bool { return len(f.ran()) == 1 }) {
		t.Fatalf("not begun: %s%s", f.batch.out, f.bee.err)
	}
	f.batch.kill()
	f.exec("create table public.captured as select * from belay.job")
	fleettest.Put(t, f.dir, "go", "")
	f.waitFor(2, "state = 'over'")
	var first string
	ask(t, f.dsn, "select encode(sha256(string_agg(result, '' order by task)), 'hex') from belay.job").Scan(&first)

	replay := func(sql string) {
		f.exec(sql + `; delete from belay.result_part; insert into belay.river_job (args, kind, max_attempts, priority, queue, state)
select jsonb_build_object('job', id, 'attempt', attempt), 'belay', 1000, 2, 'jobs', 'available' from belay.job; select pg_notify('belay.river_insert', '{"queue":"jobs"}')`)
		f.waitFor(2, "state = 'over'")
	}
	const lost = "update belay.job j set state = 'ready', attempt = j.attempt + 1, result = null, machine = null, payload = c.payload from public.captured c where c.id = j.id"
	replay(lost)
	f.bee.says("task small has run on this machine already")
	f.bee.stop(syscall.SIGKILL)
	f.bee.work(1)
	replay(lost)
	replay("delete from belay.job; insert into belay.job (batch, task, hash, needs, payload) select batch, task, hash, needs, payload from public.captured")
	var last string
	ask(t, f.dsn, "select encode(sha256(string_agg(result, '' order by task)), 'hex') from belay.job").Scan(&last)
	if len(f.ran()) != 2 || first != last {
		t.Errorf("ran %v: %s", f.ran(), f.bee.err)
	}
	start()
	got := map[string]line{}
	for _, l := range f.results(1) {
		got[l.Task] = l
	}
	if len(got["large"].Result) != 1500000 || got["small"].State != "failed" || !strings.HasPrefix(got["small"].Result, "small ") || len(f.ran()) != 2 {
		t.Errorf("ran %v: %.300v", f.ran(), got)
	}
	fleettest.Put(t, f.dir, "good", "")
	start("--retry-failed")
	if f.results(0); len(f.ran()) != 3 {
		t.Errorf("ran %v", f.ran())
	}
}
