//go:build unix

package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// A submitter with a key of its own submits a batch and gets its results. It does not work on jobs, makes no keys, and is on record where its job ran. Once its key is withdrawn
// it submits nothing.
func TestSubmitters_Batch(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Empty(t))
	f.goOn(f.bee)
	if out, code := f.bee.run("fleet", "init"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	key := filepath.Join(f.ant.dir, "config/belay/fleet.key")
	if out, code := f.bee.run("fleet", "key", "add", "ann", "-o", key); code != 0 || !strings.Contains(out, "the key of ann is in "+key) {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if info, err := os.Stat(key); err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	for _, tt := range []struct {
		m    *machine
		line string
		code int
		want string
	}{
		{f.bee, "fleet key add ann", 125, "ann has a key already"},
		{f.bee, "fleet key add bob -o " + key, 125, "exists"},
		{f.bee, "fleet key add bob", 0, "belay-submitter bob "},
		{f.bee, "fleet key remove carl", 125, "there is no key of carl"},
		{f.bee, "fleet key add", 2, "which submitter?"},
		{f.bee, "fleet key list", 0, "ann"},
		{f.ant, "fleet key add bob", 2, "has the key of a submitter, which only submits jobs"},
		{f.ant, "fleet join --name ant --workers 1", 2, "has the key of a submitter, which only submits jobs"},
	} {
		if out, code := tt.m.run(strings.Fields(tt.line)...); code != tt.code || !strings.Contains(out, tt.want) {
			t.Errorf("belay %s: exit code %d, %s", tt.line, code, out)
		}
	}
	os.Mkdir(filepath.Join(f.ant.dir, "site"), 0o700)
	fleettest.Put(t, f.ant.dir, "site/page", "hello")
	fleettest.Put(t, f.ant.dir, "tasks.jsonl", `{"id":"a","tags":{"submitter":"root"}}`+"\n")
	f.bee.allow(`["generic", "archive"]`)
	f.bee.work(1)
	f.batch = f.ant.start("batch", "--fleet", "--files", "archive", "--cwd", "site", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "cat page; head -c 3000000 /dev/zero | tr '\\0' x")
	if list := f.results(0); len(list) != 1 || list[0].State != "done" || !strings.HasPrefix(list[0].Result, "hellox") || len(list[0].Result) != 3000005 {
		t.Errorf("%.500v", list)
	}
	if out, code := f.bee.run("log", "--json"); code != 0 || !strings.Contains(out, `"submitter":"ann"`) || strings.Contains(out, `"root"`) {
		t.Errorf("exit code %d: %s", code, out)
	}
	if out, code := f.bee.run("fleet", "key", "remove", "ann"); code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if out, code := f.ant.run("batch", "--fleet", "tasks.jsonl", "-o", "more.jsonl", "--", "true"); code != 2 || !strings.Contains(out, "the key of the submitter ann was withdrawn") {
		t.Errorf("exit code %d: %s", code, out)
	}
}
