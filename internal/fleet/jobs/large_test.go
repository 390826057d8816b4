//go:build unix

package jobs_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// No size makes a failure of a success: the text of a large result is stored in parts. Above 64 MiB it was "no result". BELAY_TEST_LARGE_MB=200 tries one of that size. The first one arrives by
// way of the disk of a worker that was killed after the job had ended while PostgreSQL was away, and nothing runs again; the second goes to a file of its own.
func TestLarge_ResultInParts(t *testing.T) {
	t.Parallel()
	size := number("BELAY_TEST_LARGE_MB", 2) << 20
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", `{"id":"a"}`+"\n")
	// Each line has quotes, a backslash and a character that takes two bytes.
	script := fmt.Sprintf(`echo begun >> %[1]s/ran; while ! test -e %[1]s/go; do sleep 0.05; done; yes 'say "é" \ 0123456789abcdef0123456789abcdef0123456789' | head -c %[2]d`, f.dir, size)
	batch := func(results string, flags ...string) {
		f.batch = f.ant.start(append(append([]string{"batch", "--fleet", "tasks.jsonl", "-o", results}, flags...), "--", "sh", "-c", script)...)
	}
	batch("results.jsonl")
	if !within(patience, func() bool { return len(f.ran()) == 1 }) {
		t.Fatalf("not begun: %s%s", f.batch.out, f.bee.err)
	}
	f.bee.net.Cut()
	fleettest.Put(t, f.dir, "go", "")
	kept := func() bool {
		found, _ := filepath.Glob(filepath.Join(f.bee.dir, "state/fleet/jobs/*/report"))
		return len(found) == 1
	}
	if !within(patience, kept) {
		t.Fatalf("the result is not on disk: %s", f.bee.err)
	}
	f.bee.stop(syscall.SIGKILL)
	f.bee.net.Heal()
	f.bee.work(1)
	want := []byte(strings.Repeat("say \"é\" \\ 0123456789abcdef0123456789abcdef0123456789\n", size/50)[:size])
	if list := f.results(0); len(list) != 1 || len(f.ran()) != 1 || list[0].State != "done" || list[0].Result != string(want) {
		t.Errorf("%d results: %.300s", len(list), fmt.Sprint(list))
	}
	batch("others.jsonl", "--output-dir", "out")
	if said, code := f.batch.wait(); code != 0 {
		t.Errorf("exit code %d: %s", code, said)
	}
	got, err := os.ReadFile(filepath.Join(f.ant.dir, "out/a"))
	if err != nil || sha256.Sum256(got) != sha256.Sum256(want) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	var line struct {
		State  string
		Result json.RawMessage
	}
	if data, err := os.ReadFile(filepath.Join(f.ant.dir, "others.jsonl")); err != nil || json.Unmarshal(data, &line) != nil || line.State != "done" || string(line.Result) != "null" {
		t.Errorf("%v: %.300s", err, data)
	}
	var left int
	if ask(t, f.dsn, "select (select count(*) from belay.job) + (select count(*) from belay.result_part)").Scan(&left); left > 0 {
		t.Errorf("%d rows are left", left)
	}
}
