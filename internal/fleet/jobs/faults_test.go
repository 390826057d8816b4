//go:build unix

package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/fleet/fleettest"
	"github.com/belay-run/belay/internal/test/must"
)

// number is a size of a test that make soak enlarges.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// Each job has one result, whatever happens to machines, networks, PostgreSQL and the submitter meanwhile, and whatever its size. make soak does it with 20,000 jobs. The first six moments are one
// of each kind; of further ones, in make soak, each fifth kills the submitter, and the others are drawn by lot.
func TestFaults_EachJobHasOneResult(t *testing.T) {
	jobs, moments := number("BELAY_TEST_FLEET_JOBS", 120), number("BELAY_TEST_FLEET_MOMENTS", 6)
	large, megabytes := number("BELAY_TEST_FLEET_LARGE", 1), number("BELAY_TEST_FLEET_LARGE_MB", 2)
	dsn := fleettest.Database(t)
	server := fleettest.Shared(t)
	pace, longer := 1, 24*time.Second // than a lease
	if jobs <= 1000 {
		pace, longer = 5, 5*time.Second
	}
	var machines []*machine
	for i := range 5 {
		m := newMachine(t, fmt.Sprintf("m%d", i), dsn)
		m.pace(pace)
		m.work(2)
		machines = append(machines, m)
	}
	submitter := newMachine(t, "submitter", dsn)
	ran := filepath.Join(t.TempDir(), "ran")
	random := faulttest.Random(t)
	// Tasks have from 1 byte to 100 kB, and their results as much; some in between are large.
	var tasks strings.Builder
	want := map[string]int{} // the size of each result
	for i := range jobs {
		id, rest := fmt.Sprint(i), int(math.Pow(100_000, random.Float64()))-1
		more := 0
		if large > 0 && i%max(1, jobs/large) == jobs/large/2 && i/max(1, jobs/large) < large {
			id, more = "large"+id, megabytes*1_000_000
		}
		fmt.Fprintf(&tasks, "{\"id\":\"t%d\",\"prompt\":\"%s\\n%s\"}\n", i, id, strings.Repeat("x", rest))
		want[fmt.Sprintf("t%d", i)] = len(id) + 1 + rest + more
	}
	os.WriteFile(filepath.Join(submitter.dir, "tasks.jsonl"), []byte(tasks.String()), 0o600)
	seconds := max(0.02, min(1, 100/float64(jobs)))
	script := fmt.Sprintf("read x; echo $x >> %s; sleep %.2f; echo $x; cat; case $x in large*) yes | head -c %d;; esac", ran, seconds, megabytes*1_000_000)
	type start struct {
		cmd  *exec.Cmd
		out  lockedBuffer
		over chan struct{}
	}
	begun := time.Now()
	submit := func() *start {
		b := &start{cmd: submitter.command("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", script), over: make(chan struct{})}
		b.cmd.Stdout, b.cmd.Stderr = &b.out, &b.out
		must.OK(t, b.cmd.Start())
		late := time.AfterFunc(time.Duration(120+jobs/4+moments*40+large*megabytes)*time.Second, func() { b.cmd.Process.Signal(syscall.SIGQUIT) })
		go func() {
			defer close(b.over)
			defer late.Stop()
			b.cmd.Wait()
		}()
		return b
	}
	batch := submit()
	t.Cleanup(func() { batch.cmd.Process.Kill(); <-batch.over })
	if !within(patience, func() bool { _, err := os.Stat(ran); return err == nil }) {
		t.Fatalf("no job was begun: %s", machines[0].err)
	}
	killed := 0
	faults := []func(*machine){
		func(m *machine) { m.stop(syscall.SIGKILL); time.Sleep(100 * time.Millisecond); m.work(2) },
		func(m *machine) {
			m.signal(syscall.SIGSTOP)
			time.AfterFunc(longer, func() { m.signal(syscall.SIGCONT) })
		},
		func(m *machine) { m.net.Cut(); time.AfterFunc(longer, m.net.Heal) },
		func(*machine) { server.Stop(syscall.SIGINT); time.Sleep(time.Second); server.Resume() },
		func(*machine) { server.Stop(syscall.SIGKILL); server.Resume() },
		func(*machine) { // the submitter; results come in while it is away
			batch.cmd.Process.Kill()
			if <-batch.over; batch.cmd.ProcessState.ExitCode() != 0 {
				killed++
				time.Sleep(faulttest.N(random, 2*time.Second))
				batch = submit()
			}
		},
		func(m *machine) { m.net.BlackHole(); time.AfterFunc(longer, m.net.Heal) },
		func(m *machine) {
			m.signal(syscall.SIGCONT) // it may be frozen, and would not leave before it is not
			m.stop(syscall.SIGTERM)
			m.work(2)
		},
	}
	// A batch that finds PostgreSQL away when it starts ends with 75, and is started again by the test.
	refused := func() bool {
		if batch.cmd.ProcessState.ExitCode() != engine.CodeTryLater {
			return false
		}
		time.Sleep(500 * time.Millisecond)
		batch = submit()
		return true
	}
	const submitterDies = 5
	over, tried := false, 0
	starts := func() int {
		data, _ := os.ReadFile(ran)
		return bytes.Count(data, []byte("\n"))
	}
	for i := 0; i < moments && !over; i++ {
		m, fault := machines[i%len(machines)], i
		if i > submitterDies {
			m, fault = machines[random.IntN(len(machines))], random.IntN(len(faults))
			for fault == submitterDies {
				fault = random.IntN(len(faults))
			}
			if i%5 == 4 {
				fault = submitterDies
			}
		}
		t.Logf("%s: fault %d on %s", time.Since(begun).Round(time.Millisecond), fault, m.name)
		faults[fault](m)
		tried++
		// The next one comes when the jobs have got on: there are some left for each.
		for late := time.Now().Add(20 * time.Second); !over; {
			select {
			case <-batch.over:
				over = !refused()
				continue
			case <-time.After(100*time.Millisecond + faulttest.N(random, 200*time.Millisecond)):
			}
			if starts() >= (i+1)*jobs/(moments+1) || time.Now().After(late) {
				break
			}
		}
	}
	for <-batch.over; !over; <-batch.over {
		over = !refused()
	}
	took := time.Since(begun)
	if code := batch.cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d: %.3000s", code, batch.out.String())
		for _, m := range machines {
			t.Logf("%s: %.2000s", m.name, m.err)
		}
	}
	got, again := map[string]int{}, 0
	eachResult(t, filepath.Join(submitter.dir, "results.jsonl"), func(l line) {
		first, _, _ := strings.Cut(l.Result, "\n")
		if got[l.Task]++; l.State != "done" || "t"+strings.TrimPrefix(first, "large") != l.Task || len(l.Result) != want[l.Task] {
			l.Result = first
			t.Errorf("%+v", l)
		}
		if l.Tries > 1 {
			again++
		}
	})
	for i := range jobs {
		if n := got[fmt.Sprintf("t%d", i)]; n != 1 {
			t.Errorf("t%d has %d results", i, n)
		}
	}
	t.Logf("tried %d jobs, %d of them with results of %d MB, and %d faults, of which %d killed the submitter, in %s: %d were begun again, %d starts", jobs, large, megabytes, tried, killed,
		took.Round(time.Millisecond), again, starts())
	if tried < moments || killed == 0 {
		t.Errorf("all jobs were done after %d faults, of which %d killed the submitter", tried, killed)
	}
	if again == 0 {
		t.Error("no job was begun again: nothing was tested")
	}
	// Nothing is left of them once the submitter has taken the results.
	conn, err := pgx.Connect(t.Context(), dsn)
	must.OK(t, err)
	defer conn.Close(context.Background())
	var rows int
	if err := conn.QueryRow(t.Context(), "select (select count(*) from belay.job) + (select count(*) from belay.result_part)").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows are left: %v", rows, err)
	}
}
