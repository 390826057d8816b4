//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// Jobs and results whose submitter does not come back are deleted after a time, with archives and their places in the queue. A batch that is continued after
// that submits its tasks again.
func TestPrune_SubmitterDoesNotComeBack(t *testing.T) {
	dsn := fleettest.Database(t)
	ant, bee := newMachine(t, "ant", dsn), newMachine(t, "bee", dsn)
	bee.allow(`["generic", "archive"]`)
	fleettest.Put(t, ant.dir, "tasks.jsonl", `{"id":"a"}
{"id":"never","needs":["gpu"]}
`)
	fleettest.Put(t, ant.dir, "site/a.txt", "here\n")
	ran := filepath.Join(bee.dir, "ran")
	args := []string{"batch", "--fleet", "--files", "archive", "--cwd", "site", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "echo {id} >> " + ran + "; cat a.txt"}
	state := func() (n [5]int) {
		ask(t, dsn, `select (select count(*) from belay.job where state = 'ready'), (select count(*) from belay.job where state = 'over'),
	(select count(*) from belay.archive), (select count(*) from belay.batch), (select count(*) from belay.river_job where state = 'available')`).Scan(&n[0], &n[1], &n[2], &n[3], &n[4])
		return n
	}
	submitter := ant.start(args...)
	if !within(patience, func() bool { return state()[0] == 2 }) {
		t.Fatal("not submitted")
	}
	submitter.kill()
	bee.work(1)
	if !within(patience, func() bool { return state() == [5]int{1, 1, 1, 1, 1} }) {
		t.Fatalf("%v: %s", state(), bee.err)
	}
	prune := func(ago string) { // a member looks when it joins
		bee.stop(syscall.SIGTERM)
		ask(t, dsn, `with b as (update belay.batch set seen = now() - $1::text::interval), r as (update belay.river_job set created_at = created_at - interval '2 hours')
insert into belay.batch (name, seen) values ('older', now() - interval '1 year') returning 1`, ago).Scan(new(int))
		bee.work(1)
		if !within(patience, func() (gone bool) {
			ask(t, dsn, "select not exists (select from belay.batch where name = 'older')").Scan(&gone)
			return gone
		}) {
			t.Fatalf("nothing is deleted: %s", bee.err)
		}
	}
	prune("29 days")
	if n := state(); n != [5]int{1, 1, 1, 1, 1} {
		t.Errorf("%v after 29 days: %s", n, bee.err)
	}
	prune("31 days")
	if n := state(); n != [5]int{} {
		t.Fatalf("%v after 31 days: %s", n, bee.err)
	}
	fleettest.Put(t, ant.dir, "tasks.jsonl", `{"id":"a"}`+"\n")
	if out, code := ant.run(args...); code != 0 {
		t.Errorf("exit code %d: %s", code, out)
	}
	if list := readResults(t, filepath.Join(ant.dir, "results.jsonl")); len(list) != 1 || list[0].Result != "here\n" {
		t.Errorf("%+v", list)
	}
	if data, _ := os.ReadFile(ran); string(data) != "a\na\n" {
		t.Errorf("ran %q", data)
	}
}
