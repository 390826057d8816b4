package record_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// story is a run that fails twice and then for good, one that succeeds after a retry, and what else there can be.
func story() []journal.Entry {
	first := failed(run(1), journal.Retry, verdict.Network, "connection reset")
	first.WaitTime, first.GateWait, first.Requests = 2, 0.5, 3
	second := failed(run(1), journal.Retry, verdict.Overloaded, "529")
	second.Attempt, second.WaitTime, second.Timestamp.Time = 2, 4, first.Timestamp.Add(3*time.Second)
	third := failed(run(1), journal.Exhausted, verdict.Network, "connection reset again")
	third.Attempt, third.Timestamp.Time, third.RetryAt.Time = 3, first.Timestamp.Add(9*time.Second), t0.Add(time.Hour)
	third.Requests = 1

	again := failed(run(2), journal.Retry, verdict.ServerError, "500")
	again.Session = "s2"
	done := run(2)
	done.Attempt, done.Session, done.Timestamp.Time = 2, "s2", again.Timestamp.Add(time.Second)

	stopped := failed(run(3), journal.Error, verdict.Interrupted, "stopped by SIGINT")
	stopped.Session = "s3"
	refused := failed(run(4), journal.Error, verdict.RateLimit, "gate api does not let it start")
	refused.Attempt, refused.Session, refused.Usage = 0, "", nil
	missing := failed(run(5), journal.Error, verdict.ToolMissing, "claude: not found")
	missing.Attempt, missing.Session, missing.Usage, missing.Model = 0, "", nil, ""

	byHand := journal.Entry{Timestamp: run(6).Timestamp, Kind: journal.Audit, Event: "gate_hold", Gate: "api", Status: journal.Success,
		Detail: json.RawMessage(`{"reason":"maintenance","until":"2026-11-16T00:00:00Z"}`)}
	hook := journal.Entry{Timestamp: run(7).Timestamp, Kind: journal.Hook, Event: "PreToolUse", Profile: "hook:fmt", Status: journal.Error,
		ErrorType: verdict.Crash, Error: "fmt panicked", Attempt: 1,
		Detail: json.RawMessage(`{"hook_name":"fmt","event_action":"Bash","session_key":"s1","error":"fmt panicked","stack":"main.go:1"}`)}
	tool := journal.Entry{Timestamp: run(8).Timestamp, Kind: journal.MCP, Event: "tool_error", Profile: "mcp:files", Status: journal.Error,
		ErrorType: verdict.Timeout, Error: "timeout", Attempt: 1, Detail: json.RawMessage(`{"tool_name":"read","input_sha256":"ab","input_bytes":3,"error":"timeout"}`)}
	alarm := journal.Entry{Timestamp: run(9).Timestamp, Kind: journal.Alert, Event: "raised", Profile: "claude", Invocation: "run-000001",
		Status: journal.Success, Error: "connection reset again", Detail: json.RawMessage(`{"failures":5,"within_s":600}`)}
	return []journal.Entry{first, second, third, again, done, stopped, refused, missing, byHand, hook, tool, alarm}
}

func TestFold_MakesRows(t *testing.T) {
	w := newWorld(t)
	w.append(story()...)
	_, sum := w.fold()
	if sum != (record.Folded{Lines: 12}) {
		t.Errorf("folded %+v", sum)
	}
	w.expect("run-000001|claude|exhausted|network|3|6500|4500|300|0.03|s1\n"+
		"run-000002|claude|success|ok|2|0|3000|200|0.02|s2\n"+
		"run-000003|claude|error|interrupted|1|0|1500|100|0.01|s3\n"+
		"run-000004|claude|error|rate_limit|0|0|1500|0||\n"+
		"run-000005|claude|error|tool_missing|0|0|1500|0||",
		"SELECT id, profile, status, class, attempts, wait_ms, response_ms, input_tokens, cost_usd, session FROM invocations ORDER BY id")
	w.expect("run-000001|1|retry|network|connection reset|2000|500\nrun-000001|2|retry|overloaded|529|4000|0\nrun-000001|3|exhausted|network|connection reset again|0|0",
		"SELECT invocation, attempt, status, class, error, wait_ms, gate_wait_ms FROM attempts WHERE invocation = 'run-000001' ORDER BY attempt")
	// A failed run sets its session to failed, with the message.
	w.expect("s1|failed|connection reset again|1|3|300\ns2|done||1|2|200\ns3|interrupted|stopped by SIGINT|1|1|100",
		"SELECT id, status, error_message, invocations, attempts, input_tokens FROM sessions ORDER BY id")
	// Final failures only: not what was repeated, interrupted or refused.
	w.expect("integration|failure|claude|connection reset again|2\nintegration|failure|claude|claude: not found|0\n"+
		"hook|error|hook:fmt|fmt panicked|\nmcp|tool_error|mcp:files|timeout|",
		`SELECT category, event_type, json_extract(metadata, '$.integration'), json_extract(metadata, '$.error'), json_extract(metadata, '$.retry_count')
		FROM events ORDER BY timestamp`)
	w.expect("fmt|PreToolUse|Bash|s1|main.go:1",
		`SELECT json_extract(metadata, '$.hook_name'), json_extract(metadata, '$.event_type'), json_extract(metadata, '$.event_action'),
		json_extract(metadata, '$.session_key'), json_extract(metadata, '$.stack') FROM events WHERE category = 'hook'`)
	w.expect("1793534469000", "SELECT timestamp FROM events WHERE category = 'integration' LIMIT 1") // epoch milliseconds
	w.expect("belay|failure|claude|network|connection reset again|1|connection|warning|s1\nbelay|failure|claude|tool_missing|claude: not found|0|unknown|error|\n"+
		"by hand|gate_hold|api||maintenance||||", `SELECT actor, action, subject, type, message, is_retryable, category, severity, session FROM audit ORDER BY timestamp`)
	w.expect("claude|5|600000|connection reset again|run-000001|", "SELECT integration, failures, within_ms, message, invocation, delivered FROM alerts")
	w.expect("6|2|5|1|6500|600|4|2", "SELECT sum(attempts), sum(refused), sum(ended), sum(succeeded), sum(wait_ms), sum(input_tokens), sum(requests), sum(faults) FROM rollup")
	w.expect("hook:fmt|crash|1\nmcp:files|timeout|1", "SELECT profile, class, faults FROM rollup WHERE faults > 0 ORDER BY profile")
	w.expect("4|3|1", "SELECT i.requests, min(a.requests) FILTER (WHERE a.attempt = 1), sum(a.requests) - 3 FROM invocations i JOIN attempts a ON a.invocation = i.id WHERE i.id = 'run-000001'")
}

// An invocation whose lines are folded at different times is the same as one that is folded at once.
func TestFold_LineByLine(t *testing.T) {
	all, each := newWorld(t), newWorld(t)
	all.append(story()...)
	all.fold()
	d := each.open()
	for _, e := range story() {
		each.append(e)
		if sum, err := d.Fold(ctx); err != nil || sum.Lines != 1 {
			t.Fatalf("%+v, %v", sum, err)
		}
		if sum, err := d.Fold(ctx); err != nil || sum.Lines != 0 {
			t.Fatalf("again: %+v, %v", sum, err)
		}
	}
	for _, table := range []string{"invocations", "attempts", "sessions", "events", "audit", "alerts", "rollup"} {
		each.expect(all.query("SELECT * FROM "+table), "SELECT * FROM "+table)
	}
}

func TestFold_TornLines(t *testing.T) {
	line := func(n int) string {
		data, _ := json.Marshal(run(n))
		return string(data)
	}
	w := newWorld(t)
	w.text(line(1) + "\n" + line(2)[:50] + line(3) + "\n" + "garbage\n\n" + strings.Repeat("x", 3<<20) + "\n" + line(4) + "\n" + line(5)[:80])
	d, sum := w.fold()
	if sum.Lines != 3 || sum.Torn != 3 {
		t.Errorf("folded %+v", sum)
	}
	// The last one was being written.
	w.text(line(5)[80:] + "\n")
	if sum, err := d.Fold(ctx); err != nil || sum != (record.Folded{Lines: 1}) {
		t.Errorf("folded %+v, %v", sum, err)
	}
	w.expect("run-000001\nrun-000003\nrun-000004\nrun-000005", "SELECT id FROM invocations ORDER BY id")
	w.expect("4|3", "SELECT lines, torn FROM logs")
}

// However the log is edited by hand, no line that is still there is lost, and none is counted twice.
func TestFold_LogChangedByHand(t *testing.T) {
	keep := func(t *testing.T, err error) {
		t.Helper()
		must.OK(t, err)
	}
	tests := map[string]struct {
		change func(t *testing.T, w *world)
		want   int // runs of ten that were folded, and of five that were not
	}{
		"moved aside before it was folded to its end": {func(t *testing.T, w *world) {
			w.append(runs(10, 13)...)
			keep(t, os.Rename(w.log(), w.log()+".1"))
			w.append(runs(13, 15)...)
		}, 15},
		"moved away": {func(t *testing.T, w *world) {
			keep(t, os.Rename(w.log(), filepath.Join(t.TempDir(), "log")))
			w.append(runs(10, 15)...)
		}, 15},
		"removed": {func(t *testing.T, w *world) {
			keep(t, os.Remove(w.log()))
		}, 10},
		"emptied": {func(t *testing.T, w *world) {
			keep(t, os.Truncate(w.log(), 0))
			w.append(runs(10, 15)...)
		}, 15},
		"cut": {func(t *testing.T, w *world) {
			data, err := os.ReadFile(w.log())
			keep(t, err)
			keep(t, os.WriteFile(w.log(), []byte(strings.Join(strings.SplitAfter(string(data), "\n")[:4], "")), 0o600))
			w.append(runs(10, 15)...)
		}, 15},
		"cut, and longer again than before": {func(t *testing.T, w *world) {
			data, err := os.ReadFile(w.log())
			keep(t, err)
			keep(t, os.WriteFile(w.log(), []byte(strings.Join(strings.SplitAfter(string(data), "\n")[:4], "")), 0o600))
			w.append(runs(10, 25)...)
		}, 25},
		"cut in the middle of a line": {func(t *testing.T, w *world) {
			keep(t, os.Truncate(w.log(), 1000))
			w.append(runs(10, 15)...)
		}, 15},
		"its first lines dropped": {func(t *testing.T, w *world) {
			data, err := os.ReadFile(w.log())
			keep(t, err)
			keep(t, os.WriteFile(w.log(), []byte(strings.Join(strings.SplitAfter(string(data), "\n")[5:], "")), 0o600))
			w.append(runs(10, 15)...)
		}, 15},
		"copied": {func(t *testing.T, w *world) {
			data, err := os.ReadFile(w.log())
			keep(t, err)
			keep(t, os.WriteFile(w.log()+".bak", data, 0o600))
			w.append(runs(10, 15)...)
		}, 15},
		"appended to itself": {func(t *testing.T, w *world) {
			data, err := os.ReadFile(w.log())
			keep(t, err)
			w.text(string(data))
			w.append(runs(10, 15)...)
		}, 15},
		"put back after it was moved": {func(t *testing.T, w *world) {
			keep(t, os.Rename(w.log(), w.log()+".1"))
			w.append(runs(10, 12)...)
			w.fold()
			keep(t, os.Rename(w.log(), w.log()+".2"))
			keep(t, os.Rename(w.log()+".1", w.log()))
			w.append(runs(12, 15)...)
		}, 15},
		"a directory of that name beside it": {func(t *testing.T, w *world) {
			keep(t, os.Mkdir(w.log()+".d", 0o700))
			keep(t, os.WriteFile(w.log()+".empty", nil, 0o600))
			w.append(runs(10, 15)...)
		}, 15},
	}
	const rollup, sessions = "SELECT * FROM rollup", "SELECT id, attempts, input_tokens FROM sessions"
	type content struct{ counts, rollup, sessions string }
	undisturbed := map[int]content{} // by the number of runs
	for _, tt := range tests {
		if _, known := undisturbed[tt.want]; !known {
			w := newWorld(t)
			w.append(runs(0, tt.want)...)
			w.fold()
			undisturbed[tt.want] = content{w.counts(), w.query(rollup), w.query(sessions)}
		}
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.append(runs(0, 10)...)
			w.fold()
			tt.change(t, w)
			want := undisturbed[tt.want]
			for range 2 { // and it stays so
				w.fold()
				if got := w.counts(); got != want.counts {
					t.Errorf("got  %s\nwant %s", got, want.counts)
				}
				w.expect(want.rollup, rollup)
				w.expect(want.sessions, sessions)
			}
		})
	}
}

// A log of nothing, and none at all.
func TestFold_Nothing(t *testing.T) {
	w := newWorld(t)
	d, sum := w.fold()
	w.text("")
	if again, err := d.Fold(ctx); sum.Lines+again.Lines != 0 || err != nil {
		t.Errorf("%+v, %+v, %v", sum, again, err)
	}
	missing, err := record.Open(filepath.Join(w.dir, "none"))
	must.OK(t, err)
	defer missing.Close()
	if _, err := missing.Fold(ctx); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(w.dir, "none")); err == nil {
		t.Error("to ask has made the state directory")
	}
}

// More than one transaction's worth, with lines across its edges.
func TestFold_ManyPieces(t *testing.T) {
	w := newWorld(t)
	var b strings.Builder
	for n := range 7000 {
		data, _ := json.Marshal(run(n))
		b.Write(append(data, '\n'))
	}
	w.text(b.String())
	if _, sum := w.fold(); sum.Lines != 7000 {
		t.Errorf("%+v", sum)
	}
	if got := w.counts(); !strings.HasPrefix(got, "7000 invocations, 7000 attempts, 0 events") || !strings.HasSuffix(got, "700000 tokens") {
		t.Error(got)
	}
}

// A session's directory is in its file.
func TestFold_SessionDirectory(t *testing.T) {
	w := newWorld(t)
	must.OK(t, os.MkdirAll(filepath.Join(w.dir, "sessions"), 0o700))
	must.OK(t, os.WriteFile(filepath.Join(w.dir, "sessions", "claude-s1.json"), []byte(`{"dir":"/home/me/project"}`), 0o600))
	w.append(run(1))
	w.fold()
	w.expect("/home/me/project", "SELECT dir FROM sessions")
	info, err := os.Stat(filepath.Join(w.dir, record.Name))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// A wait counts when the next line of its run has come, as long as that says that it was; whether the two are folded together
// or one after the other.
func TestFold_WaitsAreWhatWasWaited(t *testing.T) {
	wait := func(n int, planned, inner float64) journal.Entry {
		e := failed(run(n), journal.Retry, verdict.RateLimit, "429")
		e.WaitTime, e.InnerWait = planned+inner, inner
		return e
	}
	end := func(n, attempt int, gate float64, status journal.Status, class verdict.Class) journal.Entry {
		e := failed(run(n), status, class, "end")
		if status == journal.Success {
			e = run(n)
		}
		e.Attempt, e.GateWait, e.Timestamp.Time = attempt, gate, e.Timestamp.Add(time.Hour)
		return e
	}
	kept := end(6, 2, 0, journal.Success, "")
	kept.WaitTime, kept.InnerWait = 3, 3
	lines := []journal.Entry{
		wait(1, 2, 0.5), end(1, 2, 0, journal.Success, ""), // as planned
		wait(2, 12.5, 0), end(2, 0, -6.25, journal.Error, verdict.Interrupted), // cut short
		wait(3, 60, 0), end(3, 2, -45, journal.Success, ""), // its hold was lifted
		wait(4, 5, 0), end(4, 2, 0.25, journal.Success, ""), // kept out for longer
		wait(5, 90, 1), // killed, or still waiting
		wait(6, 1, 0), kept,
		wait(7, 2, 0), end(7, 0, -9, journal.Error, verdict.Interrupted), // more than there was cannot be taken back
	}
	want := "run-000001|2500\nrun-000002|6250\nrun-000003|15000\nrun-000004|5250\nrun-000005|1000\nrun-000006|4000\nrun-000007|0"
	const sum = 2500 + 6250 + 15000 + 5250 + 1000 + 4000
	for name, fold := range map[string]func(*world){
		"AtOnce": func(w *world) {
			w.append(lines...)
			w.fold()
		},
		"LineByLine": func(w *world) {
			d := w.open()
			for _, e := range lines {
				w.append(e)
				if _, err := d.Fold(ctx); err != nil {
					t.Fatal(err)
				}
			}
		},
		"Twice": func(w *world) {
			w.append(lines...)
			w.fold()
			w.exec("DELETE FROM logs") // it is read again
			w.fold()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			fold(w)
			w.expect(want, "SELECT id, wait_ms FROM invocations ORDER BY id")
			w.expect(want, "SELECT invocation, sum(wait_ms + gate_wait_ms) FROM attempts GROUP BY 1 ORDER BY 1")
			w.expect(fmt.Sprint(sum), "SELECT sum(wait_ms) FROM rollup")
			w.expect("0", "SELECT count(*) FROM rollup WHERE wait_ms < 0")
			w.expect("ok|3250\nrate_limit|30750", "SELECT class, sum(wait_ms) FROM rollup WHERE wait_ms > 0 GROUP BY class ORDER BY class")
			w.expect("run-000005|90000", "SELECT invocation, planned_wait_ms FROM attempts WHERE planned_wait_ms > 0")
			w.expect("500|2500", "SELECT inner_wait_ms, wait_ms FROM attempts WHERE invocation = 'run-000001' AND attempt = 1")
		})
	}
}

// What a version before this one has folded counted at once. A line that takes some of it back still does.
func TestFold_WaitsOfAnOlderRecord(t *testing.T) {
	w := newWorld(t)
	first := failed(run(1), journal.Retry, verdict.RateLimit, "429")
	first.WaitTime = 12
	w.append(first)
	w.fold()
	w.exec("UPDATE attempts SET wait_ms = 12000, planned_wait_ms = 0")
	w.exec("UPDATE invocations SET wait_ms = 12000")
	w.exec("UPDATE rollup SET wait_ms = 12000")
	last := failed(run(1), journal.Error, verdict.Interrupted, "stopped")
	last.Attempt, last.GateWait, last.Timestamp.Time = 0, -10, first.Timestamp.Add(2*time.Second)
	w.append(last)
	w.fold()
	w.expect("2000", "SELECT wait_ms FROM invocations")
	w.expect("2000", "SELECT sum(wait_ms) FROM rollup")
	w.expect("0|0\n1|2000", "SELECT attempt, wait_ms FROM attempts ORDER BY attempt")
}

// The retries of a failure are Belay's and those inside the CLI, over all attempts, whenever they were folded.
func TestEvents_RetryCount(t *testing.T) {
	attempt := func(n, attempt, inner int, status journal.Status) journal.Entry {
		e := run(n)
		e.Attempt, e.InnerRetries, e.Status, e.ErrorType, e.Error = attempt, inner, status, verdict.Overloaded, "overloaded"
		e.Timestamp.Time = e.Timestamp.Add(time.Duration(attempt) * time.Second)
		return e
	}
	lines := []journal.Entry{attempt(1, 1, 2, journal.Retry), attempt(1, 2, 1, journal.Exhausted), attempt(2, 1, 0, journal.Error),
		attempt(3, 1, 3, journal.Error), attempt(4, 1, 0, journal.Retry), attempt(4, 2, 0, journal.Retry), attempt(4, 3, 0, journal.Exhausted)}
	for _, each := range []int{1, 2, len(lines)} {
		w := newWorld(t)
		d := w.open()
		for i := 0; i < len(lines); i += each {
			w.append(lines[i:min(i+each, len(lines))]...)
			if _, err := d.Fold(ctx); err != nil {
				t.Fatal(err)
			}
		}
		w.expect("4\n0\n3\n2", "SELECT json_extract(metadata, '$.retry_count') FROM events ORDER BY timestamp")
	}
}
