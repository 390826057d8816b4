//go:build linux

package agents_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/companion/rehearse"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
)

// batchTask is what is looked at of a result of a batch.
type batchTask struct {
	Task, State, Begun string
	Cost               float64 `json:"cost_usd"`
	Session            string  `json:"session_id"`
	Result             string
}

// batchOf is the command of a batch of so many questions.
func batchOf(s *stage.Stage, tasks int, jobs string) []string {
	var text strings.Builder
	for i := range tasks {
		fmt.Fprintf(&text, `{"id":"q%d","prompt":"say hi %d"}`+"\n", i, i)
	}
	s.File("tasks.jsonl", text.String())
	return []string{"batch", "-j", jobs, "tasks.jsonl", "-o", "results.jsonl", "--", "claude", "-p"}
}

// batchResults reads the results, one for each task.
func batchResults(s *stage.Stage, tasks int) map[string]batchTask {
	s.T.Helper()
	f, err := os.Open(filepath.Join(s.Work, "results.jsonl"))
	if err != nil {
		s.T.Fatal(err)
	}
	defer f.Close()
	found := map[string]batchTask{}
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r batchTask
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			s.T.Fatalf("%v in %s", err, in.Bytes())
		}
		if _, twice := found[r.Task]; twice || r.State != "done" {
			s.T.Errorf("%+v, twice: %v", r, twice)
		}
		found[r.Task] = r
	}
	if len(found) != tasks {
		s.T.Errorf("%d results of %d tasks", len(found), tasks)
	}
	return found
}

// A usage limit in the middle of a batch of the real claude fails no task: all wait, continue when it lifts, and hardly any call is in vain.
func TestBatch_UsageLimit(t *testing.T) {
	t.Parallel()
	otherwise := 8
	if clitest.Full() {
		otherwise = 20
	}
	tasks := faulttest.Count(t, "BELAY_TEST_BATCH_AGENTS", otherwise)
	s := claude.New(t, "", fmt.Sprintf(`200(in=200, out=20)x%d, usage-limit(resets=10s), 200(in=200, out=20)x*`, tasks/2))
	s.Longest = time.Duration(tasks)*15*time.Second + time.Minute
	r := s.Run("belay", batchOf(s, tasks, "2")...)
	r.Exits(0)
	batchResults(s, tasks)
	requests := s.Requests()
	t.Logf("tried %d tasks with a usage limit: %.2f requests a result", tasks, float64(requests)/float64(tasks))
	if most := max(float64(tasks)*1.1, float64(tasks+2)); float64(requests) > most { // two run at a time when it comes
		t.Errorf("%d requests for %d results", requests, tasks)
	}
}

// A batch of the real claude that is killed with -9 continues: no task is lost or finished twice, only turns that were under way are paid again,
// and what the log and the results have counted is what the API has served.
func TestBatch_Killed(t *testing.T) {
	t.Parallel()
	otherwise := 6
	if clitest.Full() {
		otherwise = 25
	}
	tasks, kills := faulttest.Count(t, "BELAY_TEST_BATCH_AGENTS", otherwise), faulttest.Count(t, "BELAY_TEST_BATCH_KILLS", 1)
	const jobs = 2
	s := claude.New(t, "", "200(in=200, out=20)x*")
	s.Longest = time.Duration(tasks)*15*time.Second + time.Minute
	s.Leaves = true
	line := batchOf(s, tasks, fmt.Sprint(jobs))
	for n := range kills {
		run := s.Start(s.Command("belay", line...), nil)
		before := s.Requests()
		goal := before + 1 + rand.IntN(max(1, 2*(tasks-before)/(kills-n+1)))
		stage.Within(time.Minute, func() bool { return s.Requests() >= min(goal, tasks) })
		time.Sleep(rand.N(time.Second))
		run.Cmd.Process.Kill()
		if e := run.Quietly(); e.Code != 137 && e.Code != 0 {
			t.Fatalf("exit code %d: %s", e.Code, run.Stderr)
		}
	}
	s.Leaves = false
	s.Run("belay", line...).Exits(0)
	found := batchResults(s, tasks)
	begun := map[string]int{}
	for _, r := range found {
		begun[r.Begun]++
	}
	var served float64 // in answers
	for _, q := range s.API.Main() {
		if q.End == rehearse.Whole && q.Status == 200 {
			served++
		}
	}
	again := int(served) - tasks
	t.Logf("tried %d tasks of claude with %d kills: %d turns paid again, %v", tasks, kills, again, begun)
	if again > kills*jobs {
		t.Errorf("%d turns were paid again", again)
	}
	// All answers cost the same.
	var each float64
	for _, r := range found {
		each = max(each, r.Cost)
	}
	var booked float64
	for _, e := range s.Log() {
		var used struct {
			Cost *float64 `json:"total_cost_usd"`
		}
		if e.Kind == "" && json.Unmarshal(e.Usage, &used) == nil && used.Cost != nil {
			booked += *used.Cost
		}
	}
	if want := served * each; booked > want+1e-6 || booked < want-float64(kills*jobs)*each-1e-6 || begun["new"] == tasks && again == 0 && math.Abs(booked-want) > 1e-6 {
		t.Errorf("$%v on record, and $%v served", booked, want)
	}
}
