//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/test/must"
)

// batchLine is what is looked at of a line of results.
type batchLine struct {
	Task, State, Begun string
	Result             *string
	Success            bool
}

// batchResults reads results, all lines of which have to be whole.
func (r *run) batchResults(name string) (lines []batchLine) {
	r.t.Helper()
	data, err := os.ReadFile(filepath.Join(r.dir, name))
	must.OK(r.t, err)
	for line := range bytes.Lines(data) {
		var l batchLine
		if err := json.Unmarshal(line, &l); err != nil {
			r.t.Fatalf("%v in %.200q", err, line)
		}
		lines = append(lines, l)
	}
	return lines
}

// numbered writes a file with so many tasks.
func (r *run) numbered(name string, tasks int) {
	var text strings.Builder
	for i := range tasks {
		fmt.Fprintf(&text, `{"id":"t%d","prompt":"%d"}`+"\n", i, i)
	}
	r.write(name, text.String())
}

// A batch that is killed at any moment continues with the same command: each task is finished exactly once, no line is torn or doubled, and
// only what was under way is begun again.
func TestBatch_Killed(t *testing.T) {
	t.Parallel()
	tasks, kills := faulttest.Count(t, "BELAY_TEST_BATCH_TASKS", 500), faulttest.Count(t, "BELAY_TEST_BATCH_KILLS", 5)
	const jobs = 4
	r := newRun(t, 0)
	r.numbered("tasks.jsonl", tasks)
	random := faulttest.Random(t)
	killed, longest := 0, time.Second*time.Duration(tasks)/time.Duration(500*(kills+1))
	for round := 0; ; round++ {
		cmd := r.command("belay-plain", "batch", "-j", fmt.Sprint(jobs), "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", `echo "$0" >>ran; echo "out $0"`, "{id}")
		must.OK(t, cmd.Start())
		if killed < kills {
			time.Sleep(faulttest.N(random, longest))
			cmd.Process.Kill()
		}
		err := cmd.Wait()
		if err == nil {
			break
		}
		if killed++; killed > kills || shellCode(err) != 128+int(unix.SIGKILL) {
			t.Fatalf("round %d: %v", round, err)
		}
	}
	seen := map[string]bool{}
	begun := map[string]int{}
	for _, l := range r.batchResults("results.jsonl") {
		if seen[l.Task] || l.State != "done" || l.Result == nil || *l.Result != "out "+l.Task+"\n" {
			t.Errorf("%+v, seen %v", l, seen[l.Task])
		}
		seen[l.Task] = true
		begun[l.Begun]++
	}
	ran, err := os.ReadFile(filepath.Join(r.dir, "ran"))
	must.OK(t, err)
	again := bytes.Count(ran, []byte("\n")) - tasks
	if kills > 0 && killed == 0 {
		t.Error("it was never killed")
	}
	if len(seen) != tasks || again < 0 || again > killed*jobs || begun["restarted"] > killed*jobs {
		t.Errorf("%d results of %d tasks, %d ran again, %v", len(seen), tasks, again, begun)
	}
	left, _ := filepath.Glob(filepath.Join(r.dir, "results.jsonl.*"))
	t.Logf("tried %d tasks with %d kills: %d results, none doubled, %d begun again", tasks, killed, len(seen), again)
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// The first signal stops what runs, and the same command continues; a second one kills at once. What a stubborn task has started is gone.
func TestBatch_Signals(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	r.numbered("tasks.jsonl", 3)
	r.start("belay", "batch", "-j", "3", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", `[ $0 = t0 ] && exit; trap "" TERM INT; touch ready-$0; while :; do sleep 0.1; done`, "{id}")
	r.waitFor("ready-t1", "ready-t2")
	second := r.command("belay-plain", "batch", "tasks.jsonl", "-o", "results.jsonl", "--", "true")
	if out, err := second.CombinedOutput(); shellCode(err) != 2 || !strings.Contains(string(out), fmt.Sprintf("results.jsonl is in use by another batch: process %d on ", r.cmd.Process.Pid)) {
		t.Errorf("%v: %s", err, out)
	}
	status, err := r.command("belay-plain", "batch", "status", "results.jsonl").Output()
	if err != nil || !strings.Contains(string(status), fmt.Sprintf("running: process %d on ", r.cmd.Process.Pid)) {
		t.Errorf("%v: %s", err, status)
	}
	r.cmd.Process.Signal(unix.SIGINT)
	if !within(testTimeout, func() bool {
		return strings.Contains(r.said(), "stopping 2 running tasks. Press Ctrl-C again to kill what is left")
	}) {
		t.Errorf("%s", r.said())
	}
	r.cmd.Process.Signal(unix.SIGINT)
	r.ends(130)
	r.noneLeft("the batch has ended")
	if !strings.Contains(r.said(), "stopped by SIGINT. Continue with: belay batch -j 3 tasks.jsonl -o results.jsonl -- sh -c ") {
		t.Errorf("%s", r.said())
	}
	must.OK(t, r.command("belay-plain", "batch", "tasks.jsonl", "-o", "results.jsonl", "--", "echo", "{id}").Run())
	lines := r.batchResults("results.jsonl")
	slices.SortFunc(lines, func(a, b batchLine) int { return strings.Compare(a.Task, b.Task) })
	if len(lines) != 3 || lines[0].Begun != "new" || lines[1].Begun != "restarted" || lines[2].Begun != "restarted" {
		t.Errorf("%+v", lines)
	}
}

// batch runs a batch to its end, which must have that exit code, and returns what it has said and which tasks have run.
func (r *run) batch(code int, args ...string) (said string, ran []string) {
	r.t.Helper()
	os.Remove(filepath.Join(r.dir, "ran"))
	out, err := r.command("belay-plain", append([]string{"batch", "tasks.jsonl", "-o", "results.jsonl"}, args...)...).CombinedOutput()
	if got := shellCode(err); got != code {
		r.t.Errorf("exit code %d, want %d: %s", got, code, out)
	}
	list, _ := os.ReadFile(filepath.Join(r.dir, "ran"))
	return string(out), strings.Fields(string(list))
}

// failing runs tasks one after the other, of which those fail that are named.
func failing(tasks ...string) []string {
	return []string{"-j", "1", "--", "sh", "-c", `echo $0 >>ran; case " $1 " in *" $0 "*) echo no luck >&2; exit 3; esac`, "{id}", strings.Join(tasks, " ")}
}

// A batch stops early if it is told to, says why and how to continue, and its exit code tells.
func TestBatch_Stops(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, said string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(said, w) {
				t.Errorf("no %q in:\n%s", w, said)
			}
		}
	}
	start := func(t *testing.T, tasks int) *run {
		t.Parallel()
		r := newRun(t, 0)
		r.numbered("tasks.jsonl", tasks)
		return r
	}
	t.Run("RetryFailed", func(t *testing.T) {
		r := start(t, 4)
		said, ran := r.batch(1, failing("t1", "t3")...)
		check(t, said, "task t1 failed: sh exited 3: no luck\n", "2 of 4 done in ", ", 2 failed\n", "to run the failed tasks again: belay batch --retry-failed -j 1 tasks.jsonl -o results.jsonl -- sh -c ")
		if len(ran) != 4 {
			t.Errorf("%v", ran)
		}
		// Failures of earlier starts are in the table too.
		said, ran = r.batch(1, failing()...)
		check(t, said, "continuing results.jsonl: 4 tasks already finished\n", "2 failed\n", "ERROR   TASKS  FIRST  MESSAGE\nfailed  2      t1     sh exited 3: no luck\n")
		if len(ran) != 0 {
			t.Errorf("%v", ran)
		}
		said, ran = r.batch(1, append([]string{"--retry-failed"}, failing("t3")...)...)
		check(t, said, "3 of 4 done in ", "failed  1      t3     sh exited 3: no luck\n")
		if !slices.Equal(ran, []string{"t1", "t3"}) {
			t.Errorf("%v", ran)
		}
		if said, ran = r.batch(0, append([]string{"--retry-failed"}, failing()...)...); !slices.Equal(ran, []string{"t3"}) {
			t.Errorf("%v: %s", ran, said)
		}
	})
	t.Run("FailFast", func(t *testing.T) {
		r := start(t, 4)
		said, ran := r.batch(1, append([]string{"--fail-fast"}, failing("t1")...)...)
		check(t, said, "stopped after 1 failure. Continue with: belay batch ", "1 of 4 done in ", ", 1 failed, 2 unfinished\n")
		if len(ran) != 2 {
			t.Errorf("%v", ran)
		}
	})
	t.Run("AbortAfter", func(t *testing.T) {
		r := start(t, 20)
		_, ran := r.batch(1, append([]string{"--abort-after", "10%"}, failing("t2")...)...) // of at least ten
		if len(ran) != 10 {
			t.Errorf("%v", ran)
		}
		_, ran = r.batch(1, append([]string{"--abort-after", "3"}, failing("t11", "t13")...)...)
		if len(ran) != 4 {
			t.Errorf("%v", ran)
		}
	})
	t.Run("Deadline", func(t *testing.T) {
		r := start(t, 3)
		said, _ := r.batch(75, "--deadline", "1s", "-j", "2", "--", "sh", "-c", "exec sleep 300", "{id}")
		check(t, said, "stopped: --deadline has passed. Continue with: belay batch -j 2 ", "0 of 3 done in ", "3 unfinished\n")
	})
	t.Run("SIGTERM", func(t *testing.T) {
		r := start(t, 3)
		r.start("belay", "batch", "-j", "2", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "touch ready-$0; exec sleep 300", "{id}")
		r.waitFor("ready-t0", "ready-t1")
		r.cmd.Process.Signal(unix.SIGTERM)
		r.ends(143)
		r.noneLeft("the batch has ended")
		check(t, r.said(), "stopped by SIGTERM. Continue with: belay batch -j 2 tasks.jsonl -o results.jsonl -- sh -c ")
	})
}

// The command that a stopped batch prints continues it when it is pasted into a shell, and so does the one for the failed tasks: both have every flag, and
// every argument as it was.
func TestBatch_CommandToPaste(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	const tasks, results = "my tasks.txt", "it's done.jsonl"
	r.write(tasks, "one\ntwo\n-three\nfour\nfive\n")
	// It prints its arguments, fails with the first task, and never ends with the last one.
	command := []string{"sh", "-c", `printf '%s|' "$@"; case $1 in one) exit 3;; five) exec sleep 300; esac`, "sh", "{}", "", "it's", `$HOME "x" \ *`, "ä\tb\n100%'\u0085c"}
	out, err := r.command("belay-plain", append([]string{"batch", "--fail-fast", "-j", "1", "--format=lines", "--timeout", "2", "--name", "a night's work", "--tag", "team=a b",
		"--tag", "x=1", "--no-wait", "--deadline", "8h", tasks, "-o", results, "--"}, command...)...).CombinedOutput()
	if shellCode(err) != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	bin := filepath.Join(r.dir, "bin")
	must.OK(t, os.Mkdir(bin, 0o700))
	must.OK(t, os.Symlink(r.command("belay-plain").Path, filepath.Join(bin, "belay")))
	paste := func(said []byte, before string) []byte {
		t.Helper()
		_, line, ok := strings.Cut(string(said), before)
		if !ok {
			t.Fatalf("no %q in:\n%s", before, said)
		}
		line, _, _ = strings.Cut(line, "\n")
		for _, flag := range []string{"--fail-fast", "-j 1", "--format lines", "--timeout 2", "--no-wait", "--tag 'team=a b,x=1'"} {
			if !strings.Contains(line, " "+flag+" ") {
				t.Errorf("no %s in %s", flag, line)
			}
		}
		sh := r.command("sh", "-c", `PATH="`+bin+`:$PATH"; `+line)
		out, err := sh.CombinedOutput()
		if shellCode(err) != 1 {
			t.Fatalf("%v of %s:\n%s", err, line, out)
		}
		return out
	}
	said := paste(out, "Continue with: ")
	if !bytes.Contains(said, []byte("task ")) || !bytes.Contains(said, []byte("exceeded its timeout")) {
		t.Errorf("%s", said)
	}
	states := map[string]int{}
	for _, l := range r.batchResults(results) {
		states[l.State]++
		if l.State == "done" && !strings.HasSuffix(*l.Result, "||it's|$HOME \"x\" \\ *|ä\tb\n100%'\u0085c|") {
			t.Errorf("%q", *l.Result)
		}
	}
	if states["done"] != 3 || states["failed"] != 2 {
		t.Errorf("%v", states)
	}
	again := paste(paste(said, "Continue with: "), "to run the failed tasks again: ") // all are over
	if lines := r.batchResults(results); len(lines) != 6 || lines[5].State != "failed" || !bytes.Contains(again, []byte("Continue with: belay batch --retry-failed ")) {
		t.Errorf("%d results; %s", len(lines), again)
	}
}

// waitFor waits until files are there.
func (r *run) waitFor(names ...string) {
	r.t.Helper()
	for _, name := range names {
		if !within(testTimeout, func() bool { _, err := os.Stat(filepath.Join(r.dir, name)); return err == nil }) {
			r.t.Fatalf("%s does not come\n%s", name, r.said())
		}
	}
}

// With many results on file the one task that is left is done, and a million take little memory. What it costs to read them is in make bench (bin/batch).
func TestBatch_Large(t *testing.T) {
	t.Parallel()
	tasks := faulttest.Count(t, "BELAY_TEST_BATCH_LARGE", 20_000)
	r := newRun(t, 0)
	r.numbered("tasks.jsonl", tasks+1)
	r.fakeResults("results.jsonl", tasks)
	cmd := r.command("belay-plain", "batch", "tasks.jsonl", "-o", "results.jsonl", "--", "sh", "-c", "cat /proc/$PPID/status", "{id}")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := r.batchResults("results.jsonl")
	last := lines[len(lines)-1]
	if len(lines) != tasks+1 || last.Task != fmt.Sprintf("t%d", tasks) {
		t.Fatalf("%d lines, the last %+v", len(lines), last)
	}
	var peak int // in KiB
	_, after, _ := strings.Cut(*last.Result, "VmHWM:")
	fmt.Sscan(after, &peak)
	t.Logf("tried %d results on file: the batch takes %d MiB", tasks, peak>>10)
	if peak == 0 || peak > (80+20)<<10 {
		t.Errorf("%d KiB", peak)
	}
}

// fakeResults writes results of the first so many tasks, as a batch would have left them.
func (r *run) fakeResults(results string, n int) {
	r.t.Helper()
	var text bytes.Buffer
	output := strings.Repeat("All work and no play makes a dull answer. ", 10)
	for i := range n {
		task := batch.Task{Prompt: fmt.Sprint(i)}
		fmt.Fprintf(&text, `{"task":"t%d","hash":"%s","state":"done","cost_usd":0.01,"index":%d,"line":%d,"begun":"new","ended":"2026-11-16T20:00:00Z","schema_version":1,"success":true,"result":"%s"}`+"\n",
			i, task.Hash(), i, i+1, output)
	}
	must.OK(r.t, os.WriteFile(filepath.Join(r.dir, results), text.Bytes(), 0o600))
}
