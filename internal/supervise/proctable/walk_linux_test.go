package proctable

import (
	"os/exec"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

// On a busy machine there is always something new when a walk looks again, and a tree was ended after minutes only. Here
// whatever is looked at has started another one by then.
func TestWalk_ComesToAnEnd(t *testing.T) {
	t.Parallel()
	var started []*exec.Cmd
	newest := lastPID()
	err := Walk(func(p Proc) {
		if len(started) > 0 && p.PID != newest || len(started) == most {
			return
		}
		time.Sleep(5 * time.Millisecond)
		cmd := exec.Command("true")
		must.OK(t, cmd.Start())
		newest = cmd.Process.Pid
		started = append(started, cmd)
	})
	if err != nil {
		t.Error(err)
	}
	for _, cmd := range started {
		cmd.Wait()
	}
	if len(started) == most {
		t.Errorf("it has gone after %d processes", most)
	}
}

const most = 500
