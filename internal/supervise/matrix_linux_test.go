package supervise_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// trees are scripts that do not end by themselves. They make the file ready in their directory when all of it runs.
var trees = map[string]string{
	"SameGroup":   `sh -c ': > ready; exec sleep 300' & wait; sleep 300`,
	"NewSession":  `setsid sh -c ': > ready; exec sleep 300' & wait; sleep 300`,
	"Daemon":      `setsid sh -c "sh -c ': > ready; exec sleep 300' & exit"; exec sleep 300`,
	"Chain":       `setsid sh chain 2000 & exec sleep 300`,
	"IgnoresTERM": `trap '' TERM; sleep 300 & : > ready; wait; sleep 300`,
}

// orphans are trees of which something is orphaned before the stop, in a session of its own and with its environment
// wiped. Only its limit says where it comes from.
var orphans = map[string]string{
	"Orphan":            `(setsid env -i sh -c ': > ready; exec sleep 300' &); sleep 300`,
	"OrphanSilent":      `(setsid env -i sh -c ': > ready; exec sleep 300' > /dev/null 2>&1 &); exec sleep 300`,
	"OrphanDaemon":      `env -i setsid sh -c 'setsid sh -c ": > ready; exec sleep 300" & exit'; sleep 300`,
	"OrphanWithTree":    `(setsid env -i sh -c 'setsid sleep 300 & sleep 300 & : > ready; wait' &); sleep 300`,
	"OrphanIgnoresTERM": `(setsid env -i sh -c 'trap "" TERM INT; : > ready; exec sleep 300' &); sleep 300`,
	"OrphanChain":       `(setsid env -i sh chain 2000 &); sleep 300`,
}

// chain is a process that starts another one, which leaves the session, starts another one and is gone. It comes to
// an end by itself so that a failing test does not keep the machine busy.
const chain = `[ "$1" -gt 0 ] || exit 0
[ "$1" -ne 1997 ] || : > ready
sleep 0.005
setsid sh "$0" $(($1 - 1)) &
`

// stops are the ways in which a run can be made to end. The tree must not outlive any of them. limit is in force
// whether or not all of the tree runs by then; the others wait for it.
var stops = map[string]struct {
	limit func(*supervise.Spec)
	stop  func(*supervise.Process)
	want  supervise.Reason
}{
	"Timeout": {limit: func(s *supervise.Spec) { s.Timeout = 60 * time.Millisecond }, want: supervise.Deadline},
	"Stall":   {limit: func(s *supervise.Spec) { s.Stall = 60 * time.Millisecond }, want: supervise.Stalled},
	"Interrupt": {want: supervise.Stopped,
		stop: func(p *supervise.Process) { p.Stop(hurried(supervise.Forward(syscall.SIGINT))) }},
	"Terminate": {want: supervise.Stopped,
		stop: func(p *supervise.Process) { p.Stop(hurried(supervise.Forward(syscall.SIGTERM))) }},
	"Kill": {want: supervise.Stopped, stop: (*supervise.Process).Kill},
}

// rounds is how often what may fail by chance is repeated.
func rounds(t testing.TB) int { return faulttest.Rounds(t) }

func TestKillTree_Owner(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and ends hundreds of trees")
	}
	for _, kind := range []struct {
		trees  map[string]string
		rounds int
	}{{trees, rounds(t) / 2}, {orphans, rounds(t) / 3}} {
		for m, tree := range slices.Sorted(maps.Keys(kind.trees)) {
			for n, stop := range slices.Sorted(maps.Keys(stops)) {
				if (m+n)%2 != 0 && rounds(t) < 10 {
					continue // TestTrees has the others
				}
				t.Run(tree+"/"+stop, func(t *testing.T) {
					s := own(t)
					for i := range max(1, kind.rounds) {
						killTree(t, s, kind.trees[tree], stop, placement(m+n+i))
					}
				})
			}
		}
	}
}

func TestKillTree_Library(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts and ends many trees")
	}
	t.Parallel()
	for _, kind := range []struct {
		trees  map[string]string
		before string
		rounds int
	}{{trees, "", rounds(t) / 2}, {orphans, untilMarked, rounds(t) / 10}} {
		for m, tree := range slices.Sorted(maps.Keys(kind.trees)) {
			for n, stop := range slices.Sorted(maps.Keys(stops)) {
				if (m+n)%3 != 0 && rounds(t) < 10 {
					continue
				}
				if stops[stop].limit != nil && kind.before != "" {
					continue // the limit would pass before the mark is there
				}
				t.Run(tree+"/"+stop, func(t *testing.T) {
					t.Parallel()
					for i := range max(1, kind.rounds) {
						killTree(t, &supervise.Supervisor{}, kind.before+kind.trees[tree], stop, placement(m+n+i))
					}
				})
			}
		}
	}
}

// placement is OwnGroup, OwnSession or SharedGroup, by turns: each tree is played with every placement and every stop, and in make test-full with
// every pair of them.
func placement(n int) supervise.Placement { return supervise.Placement(n % 3) }

// killTree plays one round.
func killTree(t *testing.T, s *supervise.Supervisor, script, stop string, place supervise.Placement) {
	t.Helper()
	how := stops[stop]
	dir := t.TempDir()
	ready := filepath.Join(dir, "ready")
	must.OK(t, os.WriteFile(filepath.Join(dir, "chain"), []byte(chain), 0o600))
	spec := shell(script)
	spec.Dir = dir
	spec.Stdout = &bytes.Buffer{} // a pipe that the whole tree holds
	spec.Ladder, spec.Placement = hurried(supervise.Terminate), place
	if how.limit != nil {
		how.limit(&spec)
	}
	asked := make(chan time.Time, 1)
	exit, err := s.Run(spec, func(p *supervise.Process) {
		if how.stop == nil {
			asked <- time.Now()
			return
		}
		go func() {
			within(testTimeout, func() bool { return exists(ready) })
			asked <- time.Now()
			how.stop(p)
		}()
	})
	must.OK(t, err)
	// The ladder has at most two rungs of 50 ms, survivors have 500 ms. The rest is for a busy machine, where one look at all
	// processes can take a second; a process that is not ended takes 300.
	if took := time.Since(<-asked); took > 2*time.Minute {
		t.Errorf("placement %d: it took %v to end it", place, took)
	}
	if exit.Reason != how.want {
		t.Errorf("it ended because it was %v, want %v", exit.Reason, how.want)
	}
	if len(exit.Left) > 0 {
		t.Errorf("%v could not be ended", exit.Left)
	}
	noneLeft(t, spec.RunID)
	noneInside(t, dir)
}
