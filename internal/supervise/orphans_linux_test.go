package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// wiped is a script that leaves an orphan in a session of its own, with nothing in its environment and with the usual
// limits, so that nothing says which run it comes from. The orphan makes the file orphan in the run's directory, by which it
// is found.
const wiped = `(setsid env -i prlimit --locks=unlimited sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)
while [ ! -e orphan ]; do sleep 0.01; done
`

// job is a run in a directory of its own, under way in the background.
type job struct {
	t     *testing.T
	dir   string
	p     *supervise.Process
	exits chan supervise.Exit
}

// begin starts a script and returns when it runs.
func begin(t *testing.T, s *supervise.Supervisor, id, script string) *job {
	t.Helper()
	j := &job{t: t, dir: t.TempDir(), exits: make(chan supervise.Exit, 1)}
	spec := shell(script)
	spec.Dir, spec.RunID, spec.Placement = j.dir, id, supervise.OwnSession
	spec.Stdout = &bytes.Buffer{}
	started := make(chan *supervise.Process, 1)
	go func() {
		exit, err := s.Run(spec, func(p *supervise.Process) { started <- p })
		if err != nil {
			t.Error(err)
		}
		j.exits <- exit
	}()
	j.p = <-started
	t.Cleanup(func() {
		for _, pid := range inside(j.dir) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return j
}

// tell makes a file that the script waits for.
func (j *job) tell(file string) { os.WriteFile(filepath.Join(j.dir, file), nil, 0o600) }

// awaits waits for a file that the script makes.
func (j *job) awaits(file string) {
	j.t.Helper()
	eventually(j.t, file+" is there", func() bool { return exists(filepath.Join(j.dir, file)) })
}

// ends waits for the end, which is to be of that kind.
func (j *job) ends(want supervise.Reason) supervise.Exit {
	j.t.Helper()
	exit := <-j.exits
	if exit.Reason != want {
		j.t.Errorf("it %v, want %v", exit.Reason, want)
	}
	return exit
}

// stop stops it and waits for its end.
func (j *job) stop() supervise.Exit {
	j.t.Helper()
	j.p.Stop(hurried(supervise.Terminate))
	return j.ends(supervise.Stopped)
}

// finish lets it end by itself.
func (j *job) finish() supervise.Exit {
	j.t.Helper()
	j.tell("end")
	return j.ends(supervise.Exited)
}

// lives fails the test if what the job has left is not alive.
func (j *job) lives(when string) {
	j.t.Helper()
	if len(inside(j.dir)) == 0 {
		j.t.Errorf("%s, and the orphan has ended", when)
	}
}

// sleepers are what the job has left and what does not end by itself.
func (j *job) sleepers() []int {
	return slices.DeleteFunc(inside(j.dir), func(pid int) bool {
		cmdline, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		return string(cmdline) != "sleep\x00300\x00"
	})
}

const (
	await = `while [ ! -e go ]; do sleep 0.01; done
`
	untilEnd = `while [ ! -e end ]; do sleep 0.01; done
`
)

// ids are the ways to mark two runs that are under way at the same time.
var ids = map[string]func() string{"Marked": newID, "Unmarked": func() string { return "" }}

// Two runs are under way when one of them leaves an orphan. Nothing says which, so it is left alone as long as one of them
// runs, and how the last one ends decides.
func TestOrphan_TwoRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and ends many trees")
	}
	for mark, id := range ids {
		for name, play := range map[string]func(t *testing.T, one, other *job){
			"BothStopped": func(t *testing.T, one, other *job) {
				one.stop()
				one.lives("the other one still runs")
				other.stop()
				noneInside(t, one.dir)
			},
			"BothStoppedTheOtherFirst": func(t *testing.T, one, other *job) {
				other.stop()
				one.lives("the one that left it still runs")
				one.stop()
				noneInside(t, one.dir)
			},
			"BothStoppedAtOnce": func(t *testing.T, one, other *job) {
				go other.p.Stop(hurried(supervise.Terminate))
				one.stop()
				other.ends(supervise.Stopped)
				noneInside(t, one.dir)
			},
			"StoppedThenSucceeds": func(t *testing.T, one, other *job) {
				one.stop()
				exit := other.finish()
				one.lives("the last one has succeeded")
				if len(exit.Left) != 1 {
					t.Errorf("left: %v", exit.Left)
				}
				other.p.EndTree()
				noneInside(t, one.dir)
			},
			"SucceedsThenStopped": func(t *testing.T, one, other *job) {
				if exit := one.finish(); len(exit.Left) > 0 {
					t.Errorf("left: %v", exit.Left)
				}
				one.lives("the other one still runs")
				other.stop()
				noneInside(t, one.dir)
			},
			"FailsAndIsCleanedUpThenStopped": func(t *testing.T, one, other *job) {
				one.finish()
				one.p.EndTree()
				one.lives("the other one still runs")
				other.stop()
				noneInside(t, one.dir)
			},
		} {
			t.Run(mark+"/"+name, func(t *testing.T) {
				s := own(t)
				for range rounds(t) {
					one := begin(t, s, id(), await+wiped+untilEnd)
					other := begin(t, s, id(), untilEnd)
					one.tell("go")
					one.awaits("orphan")
					play(t, one, other)
				}
			})
		}
	}
}

// An orphan whose limit is still that of its run is told by that: it ends with its own run, and not with the other one.
func TestOrphan_TwoRunsToldByLimit(t *testing.T) {
	const wiped = `(setsid env -i sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)
while [ ! -e orphan ]; do sleep 0.01; done
`
	s := own(t)
	one, other := begin(t, s, newID(), wiped+untilEnd), begin(t, s, newID(), wiped+untilEnd)
	one.awaits("orphan")
	other.awaits("orphan")
	one.stop()
	noneInside(t, one.dir)
	other.lives("the first one was stopped")
	exit := other.finish()
	if len(exit.Left) != 1 {
		t.Errorf("left: %v", exit.Left)
	}
	other.p.EndTree()
	noneInside(t, other.dir)
}

// An orphan that carries a marker belongs to that run, also if another one is stopped in the instant in which that run ends.
func TestOrphan_MarkedBesideAStop(t *testing.T) {
	for name, script := range map[string]string{
		"Session": `setsid sleep 300 > /dev/null 2>&1 &`,
		"Daemon":  `(setsid sleep 300 > /dev/null 2>&1 &)`,
		"Holding": `(setsid sleep 300 &)`,
	} {
		t.Run(name, func(t *testing.T) {
			s := own(t)
			for range rounds(t) {
				one := begin(t, s, newID(), script+"\n: > ready\n"+untilEnd)
				other := begin(t, s, newID(), wiped+untilEnd)
				one.awaits("ready")
				other.awaits("orphan")
				one.tell("end")
				other.stop()
				exit := one.ends(supervise.Exited)
				for _, pid := range inside(one.dir) {
					if !slices.ContainsFunc(exit.Left, func(q supervise.Proc) bool { return q.PID == pid }) {
						t.Errorf("%d is not among %v", pid, exit.Left)
					}
				}
				one.lives("it carries the marker of a run that succeeded")
				one.p.EndTree()
				noneInside(t, one.dir)
				noneInside(t, other.dir) // if it did not end last
			}
		})
	}
}

// A run that was started after the orphan cannot have started it: it is neither in the way nor concerned.
func TestOrphan_LaterRun(t *testing.T) {
	for mark, id := range ids {
		for name, play := range map[string]func(t *testing.T, one, later *job){
			"FirstStopped": func(t *testing.T, one, later *job) {
				one.stop()
				noneInside(t, one.dir)
				later.finish()
			},
			"LaterStopped": func(t *testing.T, one, later *job) {
				later.stop()
				one.lives("a run that began later was stopped")
				one.stop()
				noneInside(t, one.dir)
			},
		} {
			t.Run(mark+"/"+name, func(t *testing.T) {
				s := own(t)
				for range rounds(t) {
					one := begin(t, s, id(), wiped+untilEnd)
					one.awaits("orphan")
					time.Sleep(50 * time.Millisecond) // the system counts in hundredths of a second
					play(t, one, begin(t, s, id(), wiped+untilEnd))
				}
			})
		}
	}
}

// What a run has left when it succeeded stays when a later one is stopped, and does not save the later one's own orphans.
func TestOrphan_LeftByEarlierRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and ends many trees")
	}
	for left, script := range map[string]string{
		"Wiped":   wiped,
		"Marked":  `setsid sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &` + "\n",
		"SameEnv": `(sh -c ': > orphan; exec sleep 300' > /dev/null 2>&1 &)` + "\n",
		// It goes on starting processes, and leaves some as orphans.
		"Busy":      `(setsid sh -c ': > orphan; while sleep 0.05; do (sleep 300 &); n=$((n+1)); [ $n -lt 50 ] || break; done; sleep 300' > /dev/null 2>&1 &)` + "\n",
		"BusyWiped": `(setsid env -i sh -c ': > orphan; while sleep 0.05; do (sleep 300 &); n=$((n+1)); [ $n -lt 50 ] || break; done; sleep 300' > /dev/null 2>&1 &)` + "\n",
	} {
		a, b := newID(), newID()
		for mark, id := range map[string][2]string{"OneMarker": {a, a}, "TwoMarkers": {a, b}, "NoMarker": {}} {
			t.Run(left+"/"+mark, func(t *testing.T) {
				s := own(t)
				first := begin(t, s, id[0], script+`while [ ! -e orphan ]; do sleep 0.01; done`)
				if exit := first.ends(supervise.Exited); len(exit.Left) == 0 {
					t.Error("nothing is left")
				}
				for range rounds(t) {
					was := first.sleepers()
					second := begin(t, s, id[1], wiped+untilEnd)
					second.awaits("orphan")
					second.stop()
					noneInside(t, second.dir)
					is := first.sleepers()
					if gone := slices.DeleteFunc(was, func(pid int) bool { return slices.Contains(is, pid) }); len(gone) > 0 {
						t.Errorf("%v, left by the first one, have ended; %v live", gone, is)
					}
				}
				for first.p.EndTree(); len(inside(first.dir)) > 0; time.Sleep(time.Millisecond) {
					for _, pid := range inside(first.dir) {
						syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			})
		}
	}
}

// Attempts that follow each other, each with its orphan: none is left, whether they fail or are stopped.
func TestOrphan_AttemptsInSequence(t *testing.T) {
	s := own(t)
	id := newID()
	var all []*job
	for i := range 6 {
		j := begin(t, s, id, wiped+untilEnd)
		j.awaits("orphan")
		switch i % 3 {
		case 0:
			j.stop()
		case 1:
			if exit := j.finish(); len(exit.Left) != 1 {
				t.Errorf("left: %v", exit.Left)
			}
			if killed, left := j.p.EndTree(); killed != 1 || len(left) > 0 {
				t.Errorf("ended %d, left %v", killed, left)
			}
		case 2:
			j.p.Kill()
			j.ends(supervise.Stopped)
		}
		all = append(all, j)
		for _, j := range all {
			noneInside(t, j.dir)
		}
	}
}
