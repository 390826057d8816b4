//go:build unix

package run

import (
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/test/must"
)

// A request to end that comes while the result is written leaves it a second; the second request ends at once.
func TestSignals_WhileTheResultIsWritten(t *testing.T) {
	r := engine.Runner{}
	inv, err := r.Start(t.Context(), belaytype.Command{Args: []string{"true"}})
	must.OK(t, err)
	if _, err := inv.Wait(); err != nil {
		t.Fatal(err)
	}
	for _, requests := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := make(command.Signals, 16)
			defer close(s)
			var ended atomic.Int32 // with which exit code
			go pass(s, inv, true, func(code int) { ended.Store(int32(code)) })
			for range requests {
				s <- syscall.SIGTERM
			}
			synctest.Wait()
			if (ended.Load() != 0) != (requests > 1) {
				t.Errorf("after %d requests: %d", requests, ended.Load())
			}
			time.Sleep(writing)
			synctest.Wait()
			if ended.Load() != 143 {
				t.Errorf("after %d requests and a second: %d", requests, ended.Load())
			}
		})
	}
}
