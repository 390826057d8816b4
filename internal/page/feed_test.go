package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// Whatever happens, pages are told within a second: by the feed's own clock, so that a busy machine does not matter.
func TestFeed_TellsWithinASecond(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir, results := filepath.Join(t.TempDir(), "state"), filepath.Join(t.TempDir(), "answers.jsonl")
	tick := clockOfFiles(t)
	synctest.Test(t, func(t *testing.T) {
		s, err := state.Open(dir)
		must.OK(t, err)
		d, err := record.Open(s.Dir)
		must.OK(t, err)
		defer d.Close()
		f := newFeed(&view.Source{State: s, DB: d})
		events := f.join()
		defer synctest.Wait()
		defer f.leave(events)
		rec := &supervise.Record{}
		var ledger *batch.Ledger
		for i, step := range []struct {
			what, want string
			do         func() error
		}{
			{"a run starts", `now {"runs":[{"id":"aaaaaaaa-1"`, func() (err error) {
				rec, err = s.CreateRecord(supervise.Record{ID: "aaaaaaaa-1", Command: "claude", Profile: "claude", Started: time.Now(), Attempt: 1})
				return err
			}},
			{"its agent uses a tool", `"activity":"Bash"`, func() error { rec.Activity = "Bash"; return rec.Update() }},
			{"a gate is held", `"gates":[{"key":"api"`, func() error {
				return s.Gates().Update("api", time.Now(), func(g gate.State) gate.State { return g.Held(time.Now(), time.Now().Add(time.Hour), "maintenance") })
			}},
			{"an attempt is logged", "record ", func() error {
				log := journal.Log{Path: s.LogPath()}
				return log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: "aaaaaaaa-1", Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Success})
			}},
			{"the run ends", `now {"runs":[]`, func() error { return rec.Remove() }},
			{"a batch starts", "batches ", func() (err error) {
				if ledger, err = batch.OpenLedger(results, "tasks.txt"); err != nil {
					return err
				}
				return (batch.Registry{Dir: s.BatchDir()}).Note(batch.Entry{Results: results, Tasks: "tasks.txt", Dir: "/x", Started: time.Now()})
			}},
			{"a task begins", "batches ", func() error { (&batch.Batch{Ledger: ledger}).Note(batch.Progress{Total: 9, Running: 1}); return nil }},
			{"a task ends", "batches ", func() error { return os.WriteFile(results, []byte("{}\n"), 0o600) }},
			{"a batch is killed", "batches ", func() error { return ledger.Close(false) }},
		} {
			for range 3 { // what was begun is told
				time.Sleep(time.Second + time.Duration(37*i)*time.Millisecond)
				synctest.Wait()
			}
			for len(events) > 0 {
				<-events
			}
			tick()
			if err := step.do(); err != nil {
				t.Fatalf("%s: %v", step.what, err)
			}
			begun := time.Now()
			for told := false; !told; {
				select {
				case e := <-events:
					told = strings.Contains(e.name+" "+string(e.data), step.want)
				case <-time.After(time.Second - time.Since(begun)):
					t.Errorf("%s: it is not told within a second", step.what)
					told = true
				}
			}
			t.Logf("%s: told after %v", step.what, time.Since(begun))
		}
	})
}

// clockOfFiles waits until a file that is written now is newer than all that were written before. The time of files does not
// stand still in a test with fake time, but its steps may be some milliseconds long.
func clockOfFiles(t *testing.T) func() {
	path := filepath.Join(t.TempDir(), "clock")
	now := func() time.Time {
		must.OK(t, os.WriteFile(path, nil, 0o600))
		info, err := os.Stat(path)
		must.OK(t, err)
		return info.ModTime()
	}
	return func() {
		for begun := now(); !now().After(begun); {
		}
	}
}
