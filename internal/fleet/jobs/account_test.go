//go:build linux

package jobs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// Five machines with four workers each run the real claude on one account that allows twenty requests in a window. No result is lost, and few requests are refused.
func TestAccount_Claude(t *testing.T) {
	results := number("BELAY_TEST_FLEET_AGENTS", 0)
	if results == 0 {
		t.Skip("set BELAY_TEST_FLEET_AGENTS=200, as make soak does")
	}
	window := time.Duration(number("BELAY_TEST_FLEET_WINDOW", 60)) * time.Second
	claude := clitest.Claude(t, "")
	api, err := rehearse.Options{Dir: t.TempDir()}.Start(fmt.Sprintf("limit(20/%v)", window))
	must.OK(t, err)
	defer api.Close()
	dsn := fleettest.Database(t)
	machines := []*machine{newMachine(t, "submitter", dsn)}
	for i := range 5 {
		machines = append(machines, newMachine(t, fmt.Sprintf("m%d", i), dsn))
	}
	for i, m := range machines {
		m.allow(`["claude"]`)
		home := filepath.Join(m.dir, "home")
		m.more = append(slices.Concat(m.more, api.Environ(), clitest.Lean), "PATH="+filepath.Dir(claude)+":"+os.Getenv("PATH"), "HOME="+home, "CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"), "TMPDIR="+m.dir)
		if i > 0 {
			m.work(4)
		}
	}
	var tasks strings.Builder
	for i := range results {
		fmt.Fprintf(&tasks, "{\"id\":\"t%d\",\"prompt\":\"this is call %d\"}\n", i, i)
	}
	submitter := machines[0]
	os.WriteFile(filepath.Join(submitter.dir, "tasks.jsonl"), []byte(tasks.String()), 0o600)
	begun := time.Now()
	cmd := submitter.command("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--max-wait", "30m", "--", "claude", "-p", "--model", "claude-sonnet-4-5")
	var out lockedBuffer
	cmd.Stdout, cmd.Stderr = &out, &out
	late := time.AfterFunc(time.Duration(results/20+2)*window+time.Duration(results)*10*time.Second, func() { cmd.Process.Signal(syscall.SIGQUIT) })
	defer late.Stop()
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %.3000s", err, out.String())
		for _, m := range machines[1:] {
			t.Logf("%s: %.1000s", m.name, m.err)
		}
	}
	where := map[string]int{}
	for _, l := range readResults(t, filepath.Join(submitter.dir, "results.jsonl")) {
		if l.State != "done" || !l.Success {
			t.Errorf("%+v", l)
		}
		where[l.Machine]++
	}
	requests := len(api.Main())
	var when strings.Builder // + is an answer, - a refusal; a number is the second since the start
	second, sessions := -1, map[string]int{}
	for _, r := range api.Main() {
		if n := int(r.At.Sub(begun).Seconds()) / 5 * 5; n != second {
			second = n
			fmt.Fprintf(&when, " %d", n)
		}
		if r.Status == 200 {
			when.WriteByte('+')
			continue
		}
		when.WriteByte('-')
		sessions[r.Session]++
	}
	t.Logf("requests:%s; %d sessions had %d refusals", &when, len(sessions), strings.Count(when.String(), "-"))
	t.Logf("tried %d results of claude on five machines, twenty requests in %v: %d requests, %.2f a result, in %v; %v", results, window, requests, float64(requests)/float64(results),
		time.Since(begun).Round(time.Second), where)
	most := results * 5 / 4
	if results < 200 { // twenty are under way when the limit is first met: few results do not make up for them
		most = results + 20 + results/5
	}
	if requests > most || requests < results {
		t.Errorf("%d requests for %d results", requests, results)
	}
}
