//go:build unix

package jobs_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/fleet/fleettest"
)

// The job of a machine that dies and does not come back runs on another one. How long that takes is in the log of the test.
func TestFaults_DeadMachine(t *testing.T) {
	t.Parallel()
	f := newFarm(t, fleettest.Database(t))
	f.bee.work(1)
	f.submit(`{"id":"a"}`)
	f.begins(f.bee, 1)
	f.goOn(f.cow)
	f.cow.work(1)
	f.cow.says("joined")
	f.bee.stop(syscall.SIGKILL)
	dead := time.Now()
	f.begins(f.cow, 1)
	t.Logf("begun again %s after the machine had died", time.Since(dead).Round(100*time.Millisecond))
	if list := f.results(0); len(list) != 1 || list[0].Machine != "cow" || list[0].Tries < 2 || list[0].Begun != "restarted" || list[0].Result != "a\n" {
		t.Errorf("%+v", list)
	}
}
