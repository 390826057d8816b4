//go:build linux

package agents_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/test/must"
)

// batchTask is what is looked at of a result of a batch.
type batchTask struct {
	Task, State, Begun string
	Cost               float64 `json:"cost_usd"`
	Session            string  `json:"session_id"`
	Result             string
}

// batchOf is the command of a batch of so many questions.
func batchOf(s *stage.Stage, tasks, jobs int, args ...string) []string {
	var text strings.Builder
	for i := range tasks {
		fmt.Fprintf(&text, `{"id":"q%d","prompt":"say hi %d"}`+"\n", i, i)
	}
	s.File("tasks.jsonl", text.String())
	return slices.Concat([]string{"batch", "-j", fmt.Sprint(jobs), "tasks.jsonl", "-o", "results.jsonl", "--", filepath.Base(s.Agent)}, args)
}

// batchResults reads the results, one for each task.
func batchResults(s *stage.Stage, tasks int) map[string]batchTask {
	s.T.Helper()
	f, err := os.Open(filepath.Join(s.Work, "results.jsonl"))
	must.OK(s.T, err)
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

// A usage limit in the middle of a batch fails no task: all wait, continue when it lifts, and hardly any call is in vain. Each task that is running when it
// comes meets it once. Every day codex shows it, whose start costs the least.
func TestBatch_UsageLimit(t *testing.T) {
	t.Parallel()
	for _, a := range agents {
		if a != codex && (a != claude || os.Getenv("BELAY_TEST_BATCH_AGENTS") == "") && !full || a.ask == nil {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			const jobs = 2
			tasks := daily(3, 6)
			if a == claude {
				tasks = faulttest.Count(t, "BELAY_TEST_BATCH_AGENTS", 8)
			}
			most := max(tasks*11/10, tasks+jobs)
			s := a.New(t, "", fmt.Sprintf(`200(in=200, out=20)x%d, usage-limit(resets=8s)x%d, 200(in=200, out=20)x*`, tasks/2, jobs))
			s.Longest = time.Duration(tasks)*15*time.Second + 10*time.Minute
			s.Run("belay", batchOf(s, tasks, jobs, a.ask()...)...).Exits(0)
			batchResults(s, tasks)
			requests := s.Requests()
			t.Logf("tried %d tasks of %s with a usage limit: %.2f requests a result", tasks, a.Name, float64(requests)/float64(tasks))
			if requests > most {
				t.Errorf("%d requests for %d results", requests, tasks)
			}
		})
	}
}

// A batch of the real claude that is killed with -9 continues: no task is lost or finished twice, and no turn is paid twice but those that were in
// progress. What a result says it has cost is what the API has charged for its task, to the last token. Only of an answer that was in progress at a
// kill a part may be missing: as much of it as neither claude nor Belay has put on record before they died.
func TestBatch_Killed(t *testing.T) {
	t.Parallel()
	tasks, kills := faulttest.Count(t, "BELAY_TEST_BATCH_AGENTS", daily(3, 10)), faulttest.Count(t, "BELAY_TEST_BATCH_KILLS", daily(1, 2))
	const jobs = 2
	// Every third answer uses a tool, so that a kill may come in the middle of a task that has cost something.
	s := claude.New(t, "", strings.Repeat("tool(bash: `true`, in=200, out=20, over=200ms), 200(in=200, out=20, over=200ms)x2, ", tasks/2)+"200(in=200, out=20, over=200ms)x*")
	s.Longest = time.Duration(tasks)*15*time.Second + 10*time.Minute
	s.Leaves = true
	line := batchOf(s, tasks, jobs, claude.work()...)
	random := faulttest.Random(t)
	for n := range kills {
		run := s.Start(s.Command("belay", line...), nil)
		share := max(1, tasks*4/3/(kills+1))
		after := n*share + 1 + random.IntN(share)
		stage.Within(s.Longest, func() bool { return s.Requests() >= after })
		time.Sleep(faulttest.N(random, 300*time.Millisecond))
		run.Cmd.Process.Kill()
		if e := run.Quietly(); e.Code != 137 && e.Code != 0 {
			t.Fatalf("exit code %d: %s", e.Code, run.Stderr)
		}
	}
	s.Leaves = false
	s.Run("belay", line...).Exits(0)
	results := batchResults(s, tasks)
	served := servedByTask(s, results)
	begun := map[string]int{}
	var charged, counted float64
	open := 0
	for id, r := range results {
		begun[r.Begun]++
		sum, most := 0.0, 0.0 // most is what may be missing
		for i, a := range served[id] {
			sum += a.cost
			if i+1 < len(served[id]) && !served[id][i+1].goesOn {
				open, most = open+1, most+a.cost
			}
		}
		if missing := sum - r.Cost; missing < -1e-9 || missing > most+1e-9 {
			t.Errorf("%s cost $%v, %s, and $%v was charged, of which $%v in progress at a kill", id, r.Cost, r.Begun, sum, most)
		}
		charged, counted = charged+sum, counted+r.Cost
	}
	t.Logf("tried %d tasks of claude with %d kills: %v, $%.5f charged for %d requests, of which the results have $%.5f; %d requests were in progress at a kill",
		tasks, kills, begun, charged, s.Requests(), counted, open)
	if open > kills*jobs || begun["new"] < tasks-kills*jobs {
		t.Errorf("more was in progress than can be")
	}
}

// servedAnswer is one that the API has sent: what was charged for it, and whether it went on with what the answer before had asked for. One that does not is
// the first of a run.
type servedAnswer struct {
	cost   float64
	goesOn bool
}

// servedByTask are the answers that the API has sent, by the task that asked. All requests of a session are of the task that began it; one that was killed
// before its first request has asked nothing of its own.
func servedByTask(s *stage.Stage, results map[string]batchTask) map[string][]servedAnswer {
	s.T.Helper()
	found, of := map[string][]servedAnswer{}, map[string]string{}
	for id, r := range results {
		of[r.Session] = id
	}
	for _, q := range s.API.Main() {
		if n, ok := strings.CutPrefix(strings.TrimSpace(q.LastMessage), "say hi "); ok {
			of[q.Session] = "q" + n
		}
		id := of[q.Session]
		// An answer that was cut has told of one token.
		cost, ok := (*price.Table)(nil).Cost(q.Model, q.At, price.Call{Input: int64(q.Usage.Input), Output: int64(max(q.Usage.Output, 1))})
		if !ok || id == "" {
			s.T.Errorf("a request of session %q with model %q that says %.200q", q.Session, q.Model, q.LastMessage)
		}
		if q.Status == 200 {
			found[id] = append(found[id], servedAnswer{cost, strings.Contains(q.LastMessage, "Bash completed")})
		}
	}
	return found
}

// A key that is rejected ends a batch at once, and not task by task. A limit on what all may cost, or a budget, pauses it: what is spent is known to the
// next start, and it continues when there is more.
func TestBatch_Stops(t *testing.T) {
	t.Parallel()
	t.Run("Key", func(t *testing.T) {
		t.Parallel()
		s := codex.New(t, "", "401x*")
		const tasks, jobs = 10, 2
		r := s.Run("belay", batchOf(s, tasks, jobs, codex.ask()...)...)
		r.Exits(78)
		r.Says("its key was rejected (unexpected status 401 Unauthorized", "No more tasks were started. Continue with: belay batch -j 2 tasks.jsonl -o results.jsonl -- codex exec --skip-git-repo-check\n", "0 of 10 done in ")
		asked := map[string]bool{}
		for _, q := range s.API.Main() {
			asked[q.LastMessage] = true // codex asks once more by itself, if it is not stopped before
		}
		if len(asked) > jobs {
			t.Errorf("%d tasks have asked", len(asked))
		}
	})
	t.Run("Cost", func(t *testing.T) {
		stage.InFull(t) // every day TestSpending_Batch has it, with a scripted claude
		t.Parallel()
		args, one := model(t, claude)
		s := claude.New(t, "", "200(in=30000, out=500)x*")
		line := slices.Insert(batchOf(s, 5, 1, claude.ask(args...)...), 1, "--name=nightly")
		limited := func(flag string, usd float64) []string {
			return slices.Insert(slices.Clone(line), 1, fmt.Sprintf(flag, usd))
		}
		r := s.Run("belay", limited("--max-cost=%.6f", 1.5*one)...)
		r.Exits(75)
		r.Says("stopped: --max-cost is used up ($", "2 of 5 done in ", "3 unfinished")
		s.Run("belay", limited("--max-cost=%.6f", 1.5*one)...).Exits(75)
		s.Asked(2)
		r = s.Run("belay", limited("--budget=night=%.6f/day", 1.5*one)...)
		r.Exits(75)
		r.Says("budget night", "Continue with: belay batch -j 1 ")
		s.Asked(4)
		s.Run("belay", line...).Exits(0)
		s.Asked(5)
		batchResults(s, 5)
		// A dry run knows what these have cost, and which model they have used.
		for flag, want := range map[string]string{
			"--name=nightly": fmt.Sprintf("about $%.4f (the median of 5 earlier runs named nightly is $%.4f)\n", 5*one, one),
			"--name=other":   fmt.Sprintf("(the prompts alone, at the price of %s)\n", args[1]),
		} {
			r := s.Run("belay", "batch", "--dry-run", flag, "tasks.jsonl", "-o", "others.jsonl", "--", "claude", "-p")
			if !strings.Contains(r.Stdout, "command:   claude -p # say hi 4\ntasks:     5 tasks to run\n") || !strings.Contains(r.Stdout, want) {
				t.Errorf("%s", r.Stdout)
			}
		}
		s.Asked(5)
	})
}
