//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// dear is an act of claude that makes so many model calls at $0.165, each with a tool, and then answers. It puts each call on record in the file
// served. What the tool does is a command of the shell.
func dear(calls int, tool string) string {
	const call = `line '"type":"stream_event","event":{"type":"message_start","message":{"id":"m'$i'","model":"claude-sonnet-4-5","usage":{"input_tokens":50000,"output_tokens":1}}}'
line '"type":"assistant","message":{"id":"m'$i'","model":"claude-sonnet-4-5","content":[{"type":"tool_use","id":"t'$i'","name":"Bash","input":{}}]}'
line '"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":1000}}'
`
	return `trap 'exit 130' INT TERM
begin
i=0
while [ $i -lt ` + fmt.Sprint(calls) + ` ]; do
i=$((i + 1))
echo $i >> "$PLAY/served"
` + call + tool + `
answer t$i
done
result ` + fmt.Sprintf("%.3f", perCall*float64(calls)) + ` 50000 1000 50000 1000
`
}

const perCall = 0.165

// served is how many model calls the players have made.
func (r *run) served() int {
	data, _ := os.ReadFile(filepath.Join(r.dir, "plays", "served"))
	return strings.Count(string(data), "\n")
}

// budget is how a budget stands.
func (r *run) budget(name string) (b struct {
	Spent   float64
	Unknown int
	Closed  bool
	Ends    time.Time
	By      []struct{ Profile, Project string }
}) {
	r.t.Helper()
	must.OK(r.t, json.Unmarshal([]byte(r.says("budget", name, "--json")), &b))
	return b
}

// Twenty processes under one budget go beyond its limit by one model call each at most, and its sum is what they have spent.
func TestSpending_TwentyProcesses(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.play("claude", dear(40, "sleep 5")) // time for all processes to learn of it
	const limit = 5
	codes := make([]int, 20)
	var all sync.WaitGroup
	for n := range codes {
		all.Go(func() {
			cmd := r.command("belay-plain", "run", "--no-gate", "--budget", fmt.Sprintf("team=%d/day", limit), "--", "claude", "-p", "hi")
			codes[n] = shellCode(cmd.Run())
		})
	}
	all.Wait()
	b := r.budget("team")
	spent := perCall * float64(r.served())
	t.Logf("%d calls, $%.2f of $%d; in the book $%.2f", r.served(), spent, limit, b.Spent)
	if spent < limit || spent > limit+20*perCall {
		t.Errorf("$%.3f were spent", spent)
	}
	if math.Abs(b.Spent-spent) > 1e-6 || !b.Closed || b.Unknown != 0 || len(b.By) != 1 || b.By[0].Profile != "claude" {
		t.Errorf("%+v", b)
	}
	for _, code := range codes {
		if code != 75 {
			t.Errorf("exit codes %v", codes)
			break
		}
	}
	before := r.served()
	o := r.belay("--budget", "team", "--", "claude", "-p", "hi")
	if o.code != 75 || o.Attempts != 0 || r.served() != before || !strings.Contains(o.stderr, "budget team is used up until ") || !strings.Contains(o.stderr, " ($") {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
}

// The tasks of a batch that run together go beyond its limit by one model call each at most, also if it is continued with more, or if each may
// cost more than all. Continued below what is spent, nothing is asked.
func TestSpending_Batch(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	// Each task has a session of its own, and there is time for all of them to learn of the limit.
	r.play("claude", `case "$*" in *resume*) ;; *) SESSION=0199a213-81c0-7800-8aa1-$(printf %012d $$) ;; esac`+"\n"+dear(10, "sleep 5"))
	for name, tasks := range map[string]string{"eight": strings.Repeat("hi\n", 8), "three": strings.Repeat(`{"prompt":"hi","max_cost":5}`+"\n", 3)} {
		must.OK(t, os.WriteFile(filepath.Join(r.dir, name), []byte(tasks), 0o600))
	}
	before := 0
	for _, tt := range []struct {
		tasks    string
		limit    float64
		from, to float64 // what is spent in the end
	}{
		{"eight", 1, 1, 1 + 8*perCall},
		{"eight", 1.01, 1, 1 + 8*perCall},
		{"eight", 2.5, 2.5, 2.5 + 8*perCall},
		{"three", 0.4, 0.4, 0.4 + 3*perCall},
	} {
		if tt.tasks == "three" {
			before = r.served()
		}
		tasks := filepath.Join(r.dir, tt.tasks)
		cmd := r.command("belay-plain", "batch", "-j", "8", "--no-gate", "--max-cost", fmt.Sprint(tt.limit), tasks, "-o", tasks+".results", "--", "claude", "-p")
		out, err := cmd.CombinedOutput()
		spent := perCall * float64(r.served()-before)
		t.Logf("%s: $%.2f of $%.2f", tt.tasks, spent, tt.limit)
		if code := shellCode(err); code != 75 || spent < tt.from || spent > tt.to || !strings.Contains(string(out), "stopped: --max-cost is used up ($") || !strings.Contains(string(out), "0 of ") {
			t.Errorf("%+v: %d, $%.3f: %s", tt, code, spent, out)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(r.dir, "state", "costs", "*.json")); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A run whose cost is not known is done all the same, and says that its limit was not kept.
func TestSpending_UnknownIsSaid(t *testing.T) {
	t.Parallel()
	const said = "the cost of this run is unknown, so --max-cost was not enforced"
	r := newRun(t, 0)
	r.play("claude", "begin; speak m1 100000; spoken 1000; result null 100000 1000 100000 1000")
	if o := r.belay("--max-cost", "0.01", "--", "claude", "-p", "hi"); o.code != 0 || !strings.Contains(o.stderr, said) {
		t.Errorf("%d: %s", o.code, o.stderr)
	}
	if o := r.belay("--", "claude", "-p", "hi"); o.code != 0 || o.stderr != "" {
		t.Errorf("without a limit, %d: %s", o.code, o.stderr)
	}
}
