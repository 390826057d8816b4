//go:build linux

package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/belay-run/belay/internal/test/must"
)

// totals are what belay stats says in all.
type totals struct {
	Invocations int64 `json:"invocations"`
	Succeeded   int64 `json:"succeeded"`
	Attempts    int64 `json:"attempts"`
}

func (r *run) totals() (t totals) {
	r.t.Helper()
	out, err := r.command("belay-plain", "stats", "--json").Output()
	var answer struct {
		Total totals `json:"total"`
	}
	if err == nil {
		err = json.Unmarshal(out, &answer)
	}
	if err != nil {
		r.t.Errorf("%v: %s", err, out)
	}
	return answer.Total
}

// settled waits until the folds that failed runs have started have ended: the runs do not wait for them.
func (r *run) settled() {
	r.t.Helper()
	if !within(testTimeout, func() bool { return len(marked(idVar+"="+r.id)) == 0 }) {
		r.t.Error("a fold has not ended")
	}
}

// Sixteen at a time, or as many as make soak wants, one in five failing and folding by itself, while four ask and one is
// killed again and again: each run is on record once.
func TestRecord_ManyAtOnce(t *testing.T) {
	t.Parallel()
	writers := writers(t)
	each := 10
	if os.Getenv("BELAY_TEST_FULL") != "" {
		each = 200
	}
	r := newRun(t, 0)
	over := make(chan struct{})
	var asking, running sync.WaitGroup
	last := make([]int64, 4)
	for n := range 4 {
		asking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if got := r.totals().Invocations; got < last[n] {
					t.Errorf("%d runs are on record after %d", got, last[n])
				} else {
					last[n] = got
				}
			}
		})
	}
	asking.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			default:
			}
			cmd := r.command("belay-plain", "log")
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			time.Sleep(time.Duration(n%40) * time.Millisecond)
			cmd.Process.Kill()
			cmd.Wait()
		}
	})
	for range writers {
		running.Go(func() {
			for n := range each {
				cmd := r.command("belay-plain", "run", "--", "true")
				if n%5 == 0 {
					cmd = r.command("belay-plain", "run", "--", "false")
					cmd.Env = append(cmd.Env, "BELAY_FOLD=on")
				}
				if err := cmd.Run(); err != nil && n%5 != 0 {
					t.Error(err)
				}
			}
		})
	}
	running.Wait()
	close(over)
	asking.Wait()
	r.settled()
	want := totals{Invocations: int64(writers * each), Succeeded: int64(writers * each * 4 / 5), Attempts: int64(writers * each)}
	got := r.totals()
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	t.Logf("tried %d runs of %d writers at a time; survived %d runs in the database", want.Invocations, writers, got.Invocations)
	list, _ := r.entries()
	unique(t, list)
	out, err := r.command("belay-plain", "events", "-n", "0", "--json").Output()
	if n := strings.Count(string(out), "\n"); err != nil || n != writers*each/5 {
		t.Errorf("%d events, %v", n, err)
	}
}

// A run does not wait for a process that has the database, and a question no longer than five seconds: it is answered from what
// is there.
func TestRecord_HoldsNobodyUp(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	if out, err := r.command("belay-plain", "run", "--", "true").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	r.totals()
	d, err := sql.Open("sqlite", filepath.Join(r.dir, "state", "observability.sqlite"))
	must.OK(t, err)
	defer d.Close()
	conn, err := d.Conn(t.Context())
	if err == nil {
		_, err = conn.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	}
	must.OK(t, err)
	cmd := r.command("belay-plain", "run", "--", "false")
	cmd.Env = append(cmd.Env, "BELAY_FOLD=on")
	out, err := cmd.CombinedOutput() // which one that waits in vain would say
	if shellCode(err) != 1 || strings.Contains(string(out), "busy") {
		t.Errorf("%v: %s", err, out)
	}
	out, err = r.command("belay-plain", "stats").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "1 run, 100 % ok") || !strings.Contains(string(out), "belay: cannot update the record because it is busy") {
		t.Errorf("%v: %s", err, out)
	}
	conn.ExecContext(t.Context(), "ROLLBACK")
	r.settled()
	if got := r.totals().Invocations; got != 2 {
		t.Errorf("%d runs", got)
	}
}
