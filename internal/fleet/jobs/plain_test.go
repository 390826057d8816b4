//go:build linux

package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// With claude:plain, a job has claude run no command and read no file, whatever it is told and the service asks for. By itself claude runs echo without being allowed to, and reads what a prompt
// names as @path.
func TestPlain_Claude(t *testing.T) {
	o := openOffice(t, "tool(bash: `echo ran-a-command`), 200x*")
	o.bee.allow(`["claude:plain"]`)
	o.bee.work(1)
	secret := filepath.Join(o.bee.dir, "secret.txt")
	fleettest.Put(t, o.bee.dir, "secret.txt", "the-content")
	o.submit(`{"id":"a","prompt":"hi"}`)
	if list := o.results(1); len(list) != 1 || list[0].State != "failed" || !strings.Contains(list[0].Error, "jobs may run claude only plain here, and not with --allowedTools=Bash") {
		t.Errorf("%+v", list)
	}
	os.Remove(filepath.Join(o.ant.dir, "results.jsonl"))
	fleettest.Put(t, o.ant.dir, "tasks.jsonl", `{"id":"b","prompt":"look at @`+secret+`"}`+"\n")
	o.batch = o.ant.start("batch", "--fleet", "tasks.jsonl", "-o", "more.jsonl", "--", "claude", "-p", "--model", "claude-sonnet-4-5")
	if said, code := o.batch.wait(); code != 0 {
		t.Fatalf("exit code %d: %s%s", code, said, o.bee.err)
	}
	sessions, err := filepath.Glob(filepath.Join(o.bee.dir, "home/.claude/projects/*/*.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	data, err := os.ReadFile(sessions[0])
	must.OK(t, err)
	if text := string(data); strings.Contains(text, "the-content") || !strings.Contains(text, "No such tool available: Bash") {
		t.Errorf("%s", text)
	}
}
