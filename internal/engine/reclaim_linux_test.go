package engine_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// What a killed run has left of processes is ended by the next one, which says so.
func TestRunner_Reclaims(t *testing.T) {
	r := runner(t, retry.Policy{})
	const id = "01a1dfb1-a18b-78b2-9007-78e02857aef0"
	orphan := exec.Command("sleep", "60")
	orphan.Env = append(os.Environ(), supervise.RunIDVar+"="+id)
	must.OK(t, orphan.Start())
	must.OK(t, os.MkdirAll(r.State.Dir, 0o700))
	if _, err := r.State.CreateRecord(supervise.Record{ID: id, Command: "sleep", Started: time.Now()}); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(r.State.Records().Dir, "*."+id))
	part := strings.Split(filepath.Base(paths[0]), ".")
	part[2] += "1" // an owner whose pid was given to another one
	must.OK(t, os.Rename(paths[0], filepath.Join(r.State.Records().Dir, strings.Join(part, "."))))
	w := observe(r)
	if _, err := r.Run(t.Context(), belaytype.Command{Args: []string{"true"}}); err != nil {
		t.Error(err)
	}
	reclaimed := all[belaytype.Reclaimed](w)
	if len(reclaimed) != 1 || len(reclaimed[0].Processes) != 1 || reclaimed[0].Processes[0].PID != orphan.Process.Pid {
		t.Errorf("told %+v", reclaimed)
	}
	if err := orphan.Wait(); err == nil {
		t.Error("the orphan has ended by itself")
	}
	if log := entries(t, r); len(log) != 2 || log[0].Invocation != id || log[0].Rule != "killed" {
		t.Errorf("on record: %+v", log)
	}
}
