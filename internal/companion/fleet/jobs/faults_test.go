//go:build unix

package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/companion/fleet/fleettest"
	"github.com/belay-run/belay/internal/faulttest"
)

// number is a size of a test that make soak enlarges.
func number(name string, usual int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return usual
}

// Each job has one result, whatever happens to machines, networks and PostgreSQL meanwhile. make soak does it with 20,000 jobs. The first five moments are one of each kind; further ones,
// in make soak, are drawn by lot.
func TestFaults_EachJobHasOneResult(t *testing.T) {
	jobs, moments := number("BELAY_TEST_FLEET_JOBS", 300), number("BELAY_TEST_FLEET_MOMENTS", 5)
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
	var tasks strings.Builder
	for i := range jobs {
		fmt.Fprintf(&tasks, "{\"id\":\"t%d\",\"prompt\":\"%d\"}\n", i, i)
	}
	os.WriteFile(filepath.Join(submitter.dir, "tasks.jsonl"), []byte(tasks.String()), 0o600)
	seconds := max(0.02, min(1, 100/float64(jobs)))
	type ended struct {
		out  string
		code int
	}
	done := make(chan ended, 1)
	begun := time.Now()
	go func() {
		cmd := submitter.command("batch", "--fleet", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", fmt.Sprintf("read x; echo $x >> %s; sleep %.2f; echo $x", ran, seconds))
		var out lockedBuffer
		cmd.Stdout, cmd.Stderr = &out, &out
		late := time.AfterFunc(time.Duration(120+jobs/4+moments*40)*time.Second, func() { cmd.Process.Signal(syscall.SIGQUIT) })
		defer late.Stop()
		cmd.Run()
		done <- ended{out.String(), cmd.ProcessState.ExitCode()}
	}()
	if !within(patience, func() bool { _, err := os.Stat(ran); return err == nil }) {
		t.Fatalf("no job was begun: %s", machines[0].err)
	}
	faults := []func(*machine){
		func(m *machine) { m.stop(syscall.SIGKILL); time.Sleep(100 * time.Millisecond); m.work(2) },
		func(m *machine) {
			m.signal(syscall.SIGSTOP)
			time.AfterFunc(longer, func() { m.signal(syscall.SIGCONT) })
		},
		func(m *machine) { m.net.Cut(); time.AfterFunc(longer, m.net.Heal) },
		func(*machine) { server.Stop(syscall.SIGINT); time.Sleep(time.Second); server.Resume() },
		func(*machine) { server.Stop(syscall.SIGKILL); server.Resume() },
		func(m *machine) { m.net.BlackHole(); time.AfterFunc(longer, m.net.Heal) },
		func(m *machine) {
			m.signal(syscall.SIGCONT) // it may be frozen, and would not leave before it is not
			m.stop(syscall.SIGTERM)
			m.work(2)
		},
	}
	var end ended
	over, tried := false, 0
	starts := func() int {
		data, _ := os.ReadFile(ran)
		return bytes.Count(data, []byte("\n"))
	}
	random := faulttest.Random(t)
	for i := 0; i < moments && !over; i++ {
		m, fault := machines[i%len(machines)], i
		if i >= 5 {
			m, fault = machines[random.IntN(len(machines))], random.IntN(len(faults))
		}
		t.Logf("%s: fault %d on %s", time.Since(begun).Round(time.Millisecond), fault, m.name)
		faults[fault](m)
		tried++
		// The next one comes when the jobs have got on: there are some left for each.
		for late := time.Now().Add(20 * time.Second); !over; {
			select {
			case end = <-done:
				over = true
				continue
			case <-time.After(100*time.Millisecond + faulttest.N(random, 200*time.Millisecond)):
			}
			if starts() >= (i+1)*jobs/(moments+1) || time.Now().After(late) {
				break
			}
		}
	}
	if !over {
		end = <-done
	}
	took := time.Since(begun)
	if end.code != 0 {
		t.Errorf("exit code %d: %.3000s", end.code, end.out)
		for _, m := range machines {
			t.Logf("%s: %.2000s", m.name, m.err)
		}
	}
	got, again := map[string]int{}, 0
	for _, l := range readResults(t, filepath.Join(submitter.dir, "results.jsonl")) {
		if got[l.Task]++; l.State != "done" || l.Result != strings.TrimPrefix(l.Task, "t")+"\n" {
			t.Errorf("%+v", l)
		}
		if l.Tries > 1 {
			again++
		}
	}
	for i := range jobs {
		if n := got[fmt.Sprintf("t%d", i)]; n != 1 {
			t.Errorf("t%d has %d results", i, n)
		}
	}
	t.Logf("tried %d jobs with %d faults in %s: %d were begun again, %d starts", jobs, tried, took.Round(time.Millisecond), again, starts())
	if tried < moments {
		t.Errorf("all jobs were done after %d faults", tried)
	}
	if again == 0 {
		t.Error("no job was begun again: nothing was tested")
	}
	// Nothing is left of them once the submitter has taken the results.
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	var rows int
	if err := conn.QueryRow(t.Context(), "select count(*) from belay.job").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d jobs are left: %v", rows, err)
	}
}
