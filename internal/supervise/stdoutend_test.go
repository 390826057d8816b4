//go:build linux

package supervise_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// A command that closes its stdout and goes on is told of at once, not at its end.
func TestStdoutEnd_BeforeTheCommandsOwn(t *testing.T) {
	t.Parallel()
	spec := shell("echo last; exec >&-; sleep 300")
	var out bytes.Buffer
	spec.Stdout = &out
	ended := make(chan struct{})
	spec.StdoutEnd = func() { close(ended) }
	exit := run(t, spec, func(p *supervise.Process) {
		go func() {
			select {
			case <-ended:
			case <-time.After(testTimeout):
				t.Error("nobody was told that stdout has ended")
			}
			p.Kill()
		}()
	})
	if exit.Reason != supervise.Stopped || out.String() != "last\n" {
		t.Errorf("%v, %q", exit.Reason, out.String())
	}
}
