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

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// office is a farm in which the real claude works on jobs, for one service that follows a script.
type office struct {
	*farm
	api   *rehearse.API
	tools string // a file for each tool that runs
}

// openOffice makes the machines. In the script, TOOL is the beginning of a tool that goes on until it is told.
func openOffice(t *testing.T, script string) *office {
	t.Parallel()
	claude := clitest.Claude(t, "")
	o := &office{farm: newFarm(t, fleettest.Database(t)), tools: t.TempDir()}
	tool := "touch DIR/$$; until test -e DIR/go; do timeout 1 tail -f /dev/null; done"
	api, err := rehearse.Options{Dir: t.TempDir()}.Start(strings.ReplaceAll(script, "TOOL", strings.ReplaceAll("bash: `"+tool+"`", "DIR", o.tools)))
	must.OK(t, err)
	t.Cleanup(func() { api.Close() })
	o.api = api
	for _, m := range []*machine{o.ant, o.bee, o.cow} {
		m.allow(`["claude"]`)
		home := filepath.Join(m.dir, "home")
		m.more = append(slices.Concat(m.more, api.Environ(), clitest.Lean), "PATH="+filepath.Dir(claude)+":"+os.Getenv("PATH"), "HOME="+home, "CLAUDE_CONFIG_DIR="+filepath.Join(home, ".claude"), "TMPDIR="+m.dir)
	}
	return o
}

// submit submits tasks for claude, given as lines.
func (o *office) submit(tasks string, flags ...string) {
	fleettest.Put(o.t, o.ant.dir, "tasks.jsonl", tasks+"\n")
	o.batch = o.ant.start(append(append([]string{"batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl"}, flags...), "--", "claude", "-p", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash,Read")...)
}

// running waits until so many tools run.
func (o *office) running(n int) {
	o.t.Helper()
	if !within(patience, func() bool { list, _ := os.ReadDir(o.tools); return len(list) == n }) {
		o.t.Fatalf("no tool runs: %s\n%s", o.bee.err, o.batch.out)
	}
}

// goOn lets tools end.
func (o *office) goOn() { fleettest.Put(o.t, o.tools, "go", "") }

// turn is what an answer costs in these tests.
const turn = (200*3 + 20*15) / 1e6

// newOffice begins a job on bee, and waits until PostgreSQL knows its session and what it has cost. Cow works, too.
func newOffice(t *testing.T, pace int) *office {
	o := openOffice(t, "tool(TOOL, in=200, out=20), 200(in=200, out=20)x*")
	o.pace(pace)
	o.bee.work(1)
	o.submit(`{"id":"a","prompt":"say hi"}`)
	o.running(1)
	o.waitFor(1, fmt.Sprintf("session is not null and cost > %v", turn-1e-6))
	o.cow.work(1)
	o.cow.says("joined")
	return o
}

// kill ends all of bee, at once.
func (o *office) kill() {
	o.t.Helper()
	o.bee.stop(syscall.SIGKILL)
	if !within(patience, func() bool { return len(processesOf(o.bee)) == 0 }) {
		o.t.Fatalf("%v of bee outlive it", processesOf(o.bee))
	}
}

// processesOf are the processes that work for a machine.
func processesOf(m *machine) (list []string) {
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		if data, _ := os.ReadFile(process + "/environ"); strings.Contains(string(data), "BELAY_STATE_DIR="+filepath.Join(m.dir, "state")+"\x00") {
			list = append(list, filepath.Base(process))
		}
	}
	return list
}

// result is the one that the job has, and the last message that the service has got for it.
func (o *office) result() (l line, last string) {
	o.t.Helper()
	list, asked := o.results(0), o.api.Main()
	if len(list) != 1 || list[0].State != "done" {
		o.t.Fatalf("%+v", list)
	}
	return list[0], asked[len(asked)-1].LastMessage
}

// An agent whose machine dies and comes back in time continues its session there.
func TestSession_MachineComesBack(t *testing.T) {
	o := newOffice(t, 4)
	o.kill()
	o.waitFor(1, "river is null") // the lease is over, and it is kept for bee
	o.bee.work(1)
	if l, last := o.result(); l.Machine != "bee" || l.Begun != "resumed" || l.Tries < 2 || !strings.Contains(last, "Continue where you left off") {
		t.Errorf("%+v, the last request %q", l, last)
	}
}

// If its machine does not come back, it begins again on another one, and the result says so.
func TestSession_MachineStaysAway(t *testing.T) {
	o := newOffice(t, 6)
	o.kill()
	l, last := o.result()
	if l.Cost < 2*turn-1e-6 { // that of the lost machine is in it
		t.Errorf("it cost $%v", l.Cost)
	}
	if l.Machine != "cow" || l.Begun != "restarted" || l.Tries < 2 || !strings.Contains(last, "say hi") {
		t.Errorf("%+v, the last request %q", l, last)
	}
}

// If it was only cut off, and is back in time, nothing is interrupted.
func TestSession_MachineCutOff(t *testing.T) {
	o := newOffice(t, 4)
	o.bee.net.Cut()
	o.waitFor(1, "river is null") // the lease is over, and it is kept for bee
	o.bee.net.Heal()
	o.goOn()
	if l, last := o.result(); l.Machine != "bee" || l.Begun != "new" || len(o.api.Main()) != 2 || strings.Contains(last, "Continue") {
		t.Errorf("%+v, %d requests, the last %q", l, len(o.api.Main()), last)
	}
}

// A machine that is stopped and started again, as for an upgrade, continues the sessions that it has begun. No other machine gets them meanwhile.
func TestSession_MachineRestarts(t *testing.T) {
	o := newOffice(t, 1)
	o.bee.stop(syscall.SIGTERM)
	if n := o.jobs("river is null and machine = 'bee'"); n != 1 {
		t.Errorf("%d jobs are kept for it", n)
	}
	o.bee.work(1)
	if l, last := o.result(); l.Machine != "bee" || l.Begun != "resumed" || l.Tries < 2 || !strings.Contains(last, "Continue where you left off") {
		t.Errorf("%+v, the last request %q", l, last)
	}
}
