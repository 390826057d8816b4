//go:build linux

package jobs_test

import (
	"encoding/json"
	"strings"
	"testing"
)

// What running jobs have cost so far, and what they do, is known to the batch. As soon as that is as much as all may cost, what no machine works on is withdrawn, and what is running
// is stopped: each had the limit of the whole batch, and they spent it as many times as there were workers.
func TestBatch_MaxCostCountsRunningJobs(t *testing.T) {
	// 20,000 tokens cost $0.06.
	o := openOffice(t, strings.Repeat("tool(TOOL, in=20000, out=20), ", 3)+"200(in=200, out=20)x*")
	o.bee.work(2)
	o.submit(`{"id":"a","prompt":"say hi"}`+"\n"+`{"id":"b","prompt":"say hi"}`+"\n"+`{"id":"c","prompt":"say hi"}`+"\n"+`{"id":"d","prompt":"say hi"}`, "--max-cost", "0.17")
	o.running(2)
	var status struct {
		Cost    float64 `json:"cost_usd"`
		Running int
		Tasks   []struct{ Task, Doing string }
	}
	known := func() bool {
		out, _ := o.ant.run("batch", "status", "--json", "results.jsonl")
		json.Unmarshal([]byte(out), &status)
		doing := 0
		for _, task := range status.Tasks {
			if strings.HasSuffix(task.Doing, "on bee") && strings.Contains(task.Doing, "Bash") {
				doing++
			}
		}
		return status.Cost >= 0.11 && status.Running == 2 && doing == 2
	}
	if !within(patience, known) {
		t.Fatalf("%+v", status)
	}
	o.cow.work(1)
	if list := o.results(75); len(list) != 0 || len(o.api.Main()) != 3 || !strings.Contains(o.batch.out.String(), "--max-cost is used up ($0.18") {
		t.Errorf("%s\n%+v, %d requests", o.batch.out, list, len(o.api.Main()))
	}
}
