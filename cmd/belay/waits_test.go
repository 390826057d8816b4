//go:build linux

package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/built"
)

// waitingClaude is an agent that tries again by itself, $INNER times after $DELAY milliseconds each, and then answers or, with
// $STATUS, fails.
const waitingClaude = `#!/bin/sh
id='"session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"'
echo '{"type":"system","subtype":"init","claude_code_version":"2.1.325","model":"m",'$id'}'
n=0
while [ $n -lt ${INNER:-0} ]; do
	n=$((n + 1))
	echo '{"type":"system","subtype":"api_retry","attempt":'$n',"max_retries":10,"retry_delay_ms":'$DELAY',"error_status":429,"error":"rate_limit",'$id'}'
	sleep $((DELAY / 1000)).$((DELAY % 1000 / 100))
done
echo x >> asked
[ "$(wc -l < asked)" -gt "${FAILS:-0}" ] || {
	echo '{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"API Error: Request rejected (429)",'$id'}'
	exit 1
}
echo '{"type":"assistant","message":{"id":"m1","model":"m","content":[{"type":"text","text":"hi"}]},'$id'}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"hi","num_turns":1,"total_cost_usd":0,"usage":{"input_tokens":1,"output_tokens":1},'$id'}'
`

// waitTotals are what a run has waited, in seconds, as each place reports it.
type waitTotals struct {
	result, took float64 // of the result file
	lines        []float64
	log          float64 // the sum of the lines of log.jsonl
	runs, story  float64 // belay log, and its attempts in belay log RUN
	stats        float64
}

// waitTotals reads them. The run must be the only one on record.
func (r *run) waitTotals() (b waitTotals) {
	r.t.Helper()
	var result struct {
		Waited float64 `json:"total_wait_time"`
		Took   float64 `json:"duration_ms"`
		ID     string  `json:"id"`
	}
	if err := json.Unmarshal([]byte(r.file("result.json")), &result); err != nil {
		r.t.Fatalf("%v\n%s", err, r.file("run.err"))
	}
	b.result, b.took = result.Waited, result.Took/1000
	list, _ := r.entries()
	for _, e := range list {
		b.lines = append(b.lines, e.WaitTime)
		b.log += e.WaitTime + e.GateWait
	}
	var story struct {
		WaitMS float64 `json:"wait_ms"`
		List   []struct {
			WaitMS     float64 `json:"wait_ms"`
			GateWaitMS float64 `json:"gate_wait_ms"`
		} `json:"attempt_list"`
	}
	r.ask(&story, "log", result.ID, "--json")
	b.runs = story.WaitMS / 1000
	for _, a := range story.List {
		b.story += (a.WaitMS + a.GateWaitMS) / 1000
	}
	b.stats = r.waited()
	return b
}

// waited is what belay stats says that was waited, in seconds.
func (r *run) waited() float64 {
	r.t.Helper()
	var stats struct {
		Total struct {
			WaitMS float64 `json:"wait_ms"`
		} `json:"total"`
	}
	r.ask(&stats, "stats", "--json")
	return stats.Total.WaitMS / 1000
}

// ask reads what a command of belay answers.
func (r *run) ask(into any, args ...string) {
	r.t.Helper()
	out, err := r.command("belay", args...).Output()
	if err == nil {
		err = json.Unmarshal(out, into)
	}
	if err != nil {
		r.t.Fatalf("belay %v: %v\n%s", args, err, out)
	}
}

// agree fails if the totals differ, or are not within the bounds.
func (b waitTotals) agree(t *testing.T, least, most float64) {
	t.Helper()
	for _, other := range []float64{b.log, b.runs, b.story, b.stats} {
		if math.Abs(other-b.result) > 0.001*float64(len(b.lines)+1) {
			t.Errorf("the books differ: %+v", b)
			break
		}
	}
	if b.result < least || b.result > most {
		t.Errorf("waited %v, want %v to %v: %+v", b.result, least, most, b)
	}
}

// waiting starts belay run in the background; its result is in result.json.
func (r *run) waiting(args ...string) *job {
	r.t.Helper()
	bin := filepath.Join(r.dir, "agents")
	if err := os.MkdirAll(bin, 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := built.WriteFile(filepath.Join(bin, "claude"), []byte(waitingClaude)); err != nil {
		r.t.Fatal(err)
	}
	r.env = append(r.env, "PATH="+programs(r.t)+":"+bin+":"+os.Getenv("PATH"))
	return r.job("run", append([]string{"--result-file", "result.json"}, args...)...)
}

// Whatever is waited for, result, log, story and statistics have the same figure, and it is what was really waited.
func TestWaits_TheBooksAgree(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *run){
		"BetweenAttempts": func(t *testing.T, r *run) {
			r.waiting("--max-retries", "2", "--base-delay", "0.1", "--jitter", "none", "--", "sh", "-c", "exit 4").ends(t, 4)
			b := r.waitTotals()
			b.agree(t, 0.3, 0.3)
			if b.lines[0] != 0.1 || b.lines[1] != 0.2 || b.lines[2] != 0 {
				t.Errorf("%+v", b)
			}
		},
		// The back-off is 0.1 s, but all calls are held for 5 s: that is what is waited, and what its line says.
		"HoldOfAThrottle": func(t *testing.T, r *run) {
			r.env = append(r.env, "FAILS=1", "CLAUDE_BASE_DELAY=0.1")
			r.waiting("--gate", "api", "--", "claude", "-p", "hi").ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 3, b.took)
			if b.lines[0] < 3 || b.lines[0] > 5 {
				t.Errorf("%+v", b)
			}
		},
		"HoldBeforeTheStart": func(t *testing.T, r *run) {
			r.gates("hold", "api", "--until", "1s")
			r.waiting("--gate", "api", "--", "true").ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.01, b.took)
		},
		"Scope": func(t *testing.T, r *run) {
			first := r.command("belay", "run", "--scope", "s", "--", "sh", "-c", "touch held; sleep 1")
			first.Env = append(first.Env, "BELAY_STATE_DIR="+filepath.Join(r.dir, "state"))
			if err := first.Start(); err != nil {
				t.Fatal(err)
			}
			eventually(t, "the scope is taken", func() bool { _, err := os.Stat(filepath.Join(r.dir, "held")); return err == nil })
			j := r.waiting("--scope", "s", "--", "true")
			first.Wait()
			j.ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.01, b.took) // the other run has waited for nothing
		},
		"InsideClaude": func(t *testing.T, r *run) {
			r.env = append(r.env, "INNER=2", "DELAY=700")
			r.waiting("--no-gate", "--", "claude", "-p", "hi").ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.7, 1.401)
			if list, _ := r.entries(); list[0].InnerWait != list[0].WaitTime {
				t.Errorf("%+v", list)
			}
		},
		"InsideAConversation": func(t *testing.T, r *run) {
			r.env = append(r.env, "INNER=2", "DELAY=700")
			r.waiting("--no-gate", "--", "claude", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose").ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.7, 1.401)
		},
		"InsideAndBetween": func(t *testing.T, r *run) {
			r.env = append(r.env, "INNER=1", "DELAY=600", "FAILS=1")
			r.waiting("--no-gate", "--base-delay", "0.3", "--jitter", "none", "--", "claude", "-p", "hi").ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.9, 1.501)
			if b.lines[0] < 0.3 || b.lines[0] > 0.901 {
				t.Errorf("%+v", b)
			}
		},
		"CancelledBetweenAttempts": func(t *testing.T, r *run) {
			j := r.waiting("--max-retries", "2", "--base-delay", "90", "--max-delay", "90", "--jitter", "none", "--", "sh", "-c", "echo no >&2; exit 4")
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "retry 1 of 2") })
			time.Sleep(500 * time.Millisecond)
			j.cmd.Process.Signal(unix.SIGTERM)
			j.ends(t, 143)
			b := r.waitTotals()
			b.agree(t, 0.2, b.took)
		},
		"CancelledInAHold": func(t *testing.T, r *run) {
			r.env = append(r.env, "FAILS=1", "CLAUDE_BASE_DELAY=0.1")
			j := r.waiting("--gate", "api", "--", "claude", "-p", "hi")
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "retry 1") })
			time.Sleep(500 * time.Millisecond)
			j.cmd.Process.Signal(unix.SIGINT)
			j.ends(t, 130)
			b := r.waitTotals()
			b.agree(t, 0.2, b.took)
		},
		"CancelledBeforeTheStart": func(t *testing.T, r *run) {
			r.gates("hold", "api", "--until", "2m")
			j := r.waiting("--gate", "api", "--", "true")
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "; waiting.") })
			time.Sleep(500 * time.Millisecond)
			j.cmd.Process.Signal(unix.SIGTERM)
			j.ends(t, 143)
			b := r.waitTotals()
			b.agree(t, 0.2, b.took)
		},
		"CancelledInsideClaude": func(t *testing.T, r *run) {
			r.env = append(r.env, "INNER=1", "DELAY=30000")
			j := r.waiting("--no-gate", "--", "claude", "-p", "hi")
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "; retrying in 30s") })
			time.Sleep(500 * time.Millisecond)
			j.cmd.Process.Signal(unix.SIGTERM)
			j.ends(t, 143)
			b := r.waitTotals()
			b.agree(t, 0.2, min(b.took, 25))
		},
		// A hold that is lifted was not waited for to its end.
		"HoldLifted": func(t *testing.T, r *run) {
			r.env = append(r.env, "FAILS=1", "CLAUDE_BASE_DELAY=0.1")
			r.gates("hold", "other", "--until", "1s") // so that belay gates has something to look for
			j := r.waiting("--gate", "api", "--max-wait", "5m", "--", "claude", "-p", "hi")
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "retry 1") })
			r.gates("hold", "api", "--until", "2m")
			r.gates("reset", "api")
			j.ends(t, 0)
			b := r.waitTotals()
			b.agree(t, 0.05, b.took)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newRun(t, 0))
		})
	}
}

// A run that waits, or is killed meanwhile, is not shown as having waited: what is on record is the attempt.
func TestWaits_KilledMeanwhile(t *testing.T) {
	t.Parallel()
	for n, args := range [][]string{
		{"--max-retries", "2", "--base-delay", "90", "--max-delay", "90", "--jitter", "none", "--", "sh", "-c", "echo no >&2; exit 4"},
		{"--max-retries", "1", "--base-delay", "0.1", "--jitter", "none", "--", "sh", "-c", "echo Retry-After: 60 >&2; exit 4"},
		{"--gate", "api", "--base-delay", "40", "--jitter", "none", "--", "claude", "-p", "hi"},
	} {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			t.Parallel()
			r := newRun(t, n)
			r.env = append(r.env, "FAILS=9")
			j := r.waiting(args...)
			eventually(t, "it waits", func() bool { return strings.Contains(r.file("run.err"), "retry 1") })
			if waited := r.waited(); waited != 0 {
				t.Errorf("%v s have been waited before the wait is over", waited)
			}
			j.cmd.Process.Kill()
			j.ends(t, 137)
			list, torn := r.entries()
			if len(list) != 1 || torn != 0 || list[0].Attempt != 1 || list[0].Status != "retry" {
				t.Errorf("%+v, %d torn", list, torn)
			}
			if waited := r.waited(); waited != 0 {
				t.Errorf("%v s have been waited by a run that was killed", waited)
			}
		})
	}
}
