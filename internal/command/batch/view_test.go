package batch

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/batch/fleet"
	"github.com/belay-run/belay/internal/printable"
)

// The line of a batch keeps what matters most in any width, and its tasks take turns.
func TestBatchView_LineFits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		since := time.Now().Add(-14 * time.Second)
		p := batch.Progress{Total: 200, Done: 120, Failed: 3, Running: 2, Left: 600, Cost: 1.5, Expected: 2.5,
			Tasks: []batch.Now{{Task: "q17", Since: since, Doing: "Bash"}, {Task: "q18", Since: since}}}
		for columns, want := range map[int]string{
			120: "120 of 200 done, 3 failed, 2 running, about 10m left, $1.5000 of about $2.5000, q17: Bash (14s)",
			80:  "120/200 done, 3 failed, 2 running, 10m left, $1.5000 of $2.5000, q17: Bash (14s)",
			72:  "120/200 done, 3 failed, 2 running, 10m left, $1.5000, q17: Bash (14s)",
			60:  "120/200 done, 3 failed, 2 running, 10m left, $1.5000",
			45:  "120/200 done, 3 failed, 10m left, $1.5000",
		} {
			if got := liveLine(p, columns); got != want || printable.Width(got) > columns {
				t.Errorf("in %d columns: %q", columns, got)
			}
		}
		time.Sleep(time.Second)
		if got, want := liveLine(p, 72), "120/200 done, 3 failed, 2 running, 10m left, $1.5000, q18 (15s)"; got != want {
			t.Errorf("a second later: %q", got)
		}
		p.Running, p.Tasks, p.Until = 0, nil, time.Now().Add(2*time.Hour)
		if got, want := liveLine(p, 60), "120/200 done, 3 failed, limit lifts in 2h, $1.5000"; got != want {
			t.Errorf("%q", got)
		}
	})
}

// However a batch ends, it ends with 0 only if all tasks are done, and it says why if some are not over. One over a fleet ended with 0 and "4 unfinished".
func TestBatchView_UnfinishedIsNeverZero(t *testing.T) {
	const last = batch.ResultsLost
	interrupted := &belaytype.Interrupt{Signal: 2, Name: "SIGINT"}
	for reason := batch.NotStopped; reason <= last+1; reason++ { // the last one is a reason that is not known here
		for state := range len(batch.Summary{}.Counts) {
			for _, err := range []error{nil, errors.New("why"), interrupted, &fleet.Ended{}} {
				sum := batch.Summary{Stop: reason, Err: err}
				sum.Counts[batch.Done] = 3
				sum.Counts[state]++
				v := &batchView{batch: &batch.Batch{}, results: "r.jsonl"}
				code, why := v.stopped(&sum)
				complete := reason == batch.NotStopped && batch.State(state) == batch.Done
				if (code == 0) != complete {
					t.Errorf("stopped by %d (%v), with one task %v: %d", reason, err, batch.State(state), code)
				}
				if sum.Left() > 0 && why == "" && !(err == nil && (reason == batch.SourceBroken || reason == last)) {
					t.Errorf("stopped by %d (%v), with one task %v: nothing is said", reason, err, batch.State(state))
				}
			}
		}
	}
}
