package supervise_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// Whatever came of a run, nothing of it stays in our own process: no goroutine, no descriptor.
func TestRun_LeavesNothingInside(t *testing.T) {
	kinds := map[string]func(t *testing.T, s *supervise.Supervisor){
		"Exit": func(t *testing.T, s *supervise.Supervisor) {
			spec := shell("echo hello")
			spec.Stdout, spec.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
			runOwned(t, s, spec, nil)
		},
		"Watched": func(t *testing.T, s *supervise.Supervisor) {
			spec := shell("exit 0")
			spec.Timeout, spec.Stall, spec.Linger = time.Hour, time.Hour, time.Hour
			runOwned(t, s, spec, (*supervise.Process).Delivered)
		},
		"Deadline": func(t *testing.T, s *supervise.Supervisor) {
			spec := shell("setsid sleep 300 & sleep 300")
			spec.Stdout, spec.Timeout = &bytes.Buffer{}, 20*time.Millisecond
			runOwned(t, s, spec, nil)
		},
		"Stop": func(t *testing.T, s *supervise.Supervisor) {
			runOwned(t, s, shell("sleep 300"), func(p *supervise.Process) { go p.Kill() })
		},
		"Held": func(t *testing.T, s *supervise.Supervisor) {
			spec := shell("sleep 300 &")
			spec.Stdout = &bytes.Buffer{}
			var p *supervise.Process
			runOwned(t, s, spec, func(q *supervise.Process) { p = q })
			p.EndTree()
		},
		"BrokenPipe": func(t *testing.T, s *supervise.Supervisor) {
			spec := shell("yes")
			spec.Stdout = writer(func([]byte) (int, error) { return 0, errors.New("full") })
			runOwned(t, s, spec, nil)
		},
		"NotStarted": func(t *testing.T, s *supervise.Supervisor) {
			for _, path := range []string{"/no/such", "/etc/passwd"} {
				spec := supervise.Spec{Path: path, Stdout: io.Discard, Stderr: io.Discard, Placement: supervise.Foreground}
				if _, err := s.Run(spec, nil); err == nil {
					t.Error("it has started")
				}
			}
		},
	}
	for who, s := range map[string]func(testing.TB) *supervise.Supervisor{
		"Library": func(testing.TB) *supervise.Supervisor { return &supervise.Supervisor{} }, "Owner": own,
	} {
		for kind, do := range kinds {
			t.Run(who+"/"+kind, func(t *testing.T) {
				s := s(t)
				do(t, s) // what is made once is made now
				files, goroutines := len(openFiles()), runtime.NumGoroutine()
				for range 5 {
					do(t, s)
				}
				if !within(testTimeout, func() bool { return len(openFiles()) <= files && runtime.NumGoroutine() <= goroutines }) {
					var stacks strings.Builder
					pprof.Lookup("goroutine").WriteTo(&stacks, 1)
					t.Errorf("%d files were open and are %v; %d goroutines were there and are:\n%s",
						files, openFiles(), goroutines, &stacks)
				}
			})
		}
	}
}

func openFiles() (found []string) {
	entries, _ := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		target, _ := os.Readlink("/proc/self/fd/" + e.Name())
		found = append(found, e.Name()+" "+target)
	}
	return found
}

// When descriptors run out, that is said, and those that were there are given back.
func TestRun_NoDescriptorsLeft(t *testing.T) {
	var taken []*os.File
	defer func() {
		for _, f := range taken {
			f.Close()
		}
	}()
	limit := lowerFileLimit(t, len(openFiles())+32)
	for len(taken) < limit {
		f, err := os.Open(os.DevNull)
		if err != nil {
			break
		}
		taken = append(taken, f)
	}
	for free := range 8 {
		spec := shell("exit 0")
		spec.Stdout, spec.Stderr = io.Discard, io.Discard
		exit, err := (&supervise.Supervisor{}).Run(spec, nil)
		if err == nil && exit.Code == 0 {
			return // with so many it works
		}
		if !strings.Contains(err.Error(), "too many open files") {
			t.Errorf("with %d free: %v", free, err)
		}
		taken[len(taken)-1].Close()
		taken = taken[:len(taken)-1]
	}
	t.Error("it needs too many")
}
