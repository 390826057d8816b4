//go:build linux

package supervise_test

import (
	"bytes"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
)

// whenReady calls f once the script has made its file, which is its first argument.
func whenReady(ready string, f func(*supervise.Process)) func(*supervise.Process) {
	return func(p *supervise.Process) {
		go func() {
			within(testTimeout, func() bool { return exists(ready) })
			f(p)
		}()
	}
}

func TestStop_Politely(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script string
		stop   supervise.Ladder
		code   int
	}{
		"FirstRung":  {`trap 'exit 3' INT`, supervise.Forward(syscall.SIGINT), 3},
		"SecondRung": {`trap : INT; trap 'exit 4' TERM`, supervise.Ladder{{Signal: syscall.SIGINT, Wait: 50 * time.Millisecond}, {Signal: syscall.SIGTERM, Wait: time.Minute}}, 4},
		"Sent":       {`trap 'exit 5' INT; (while [ ! -e "$1.asked" ]; do sleep 0.01; done; kill -INT $$) & :`, supervise.Forward(syscall.SIGINT).Sent(), 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := filepath.Join(t.TempDir(), "ready")
			spec := shell(tt.script+`; : > "$1"; while :; do sleep 0.01; done`, ready)
			exit := run(t, spec, whenReady(ready, func(p *supervise.Process) {
				p.Stop(tt.stop)
				os.WriteFile(ready+".asked", nil, 0o600)
			}))
			if exit.Code != tt.code || exit.Reason != supervise.Stopped {
				t.Errorf("%+v", exit)
			}
			noneLeft(t, spec.RunID)
		})
	}
}

const stubborn = `trap '' INT TERM HUP; : > "$1"; while :; do sleep 0.01; done`

// A second request goes on from the new ladder; an empty one kills.
func TestStop_KillDuringLadder(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	spec := shell(stubborn, ready)
	exit := run(t, spec, whenReady(ready, func(p *supervise.Process) {
		p.Stop(supervise.Ladder{{Signal: syscall.SIGINT, Wait: time.Hour}})
		p.Stop(supervise.Ladder{{Signal: syscall.SIGTERM, Wait: time.Hour}})
		p.Kill()
	}))
	if exit.Signal != syscall.SIGKILL || exit.Reason != supervise.Stopped {
		t.Errorf("%+v", exit)
	}
	noneLeft(t, spec.RunID)
}

// A limit that has passed is the reason, whatever is asked for afterwards.
func TestStop_AfterDeadline(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	spec := shell(`trap ': > "$1"' TERM; while :; do sleep 0.01; done`, ready)
	// Three seconds, so that it has its trap by then.
	spec.Timeout, spec.Ladder = 3*time.Second, supervise.Ladder{{Signal: syscall.SIGTERM, Wait: time.Hour}}
	exit := run(t, spec, whenReady(ready, (*supervise.Process).Kill))
	if exit.Reason != supervise.Deadline || exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v", exit)
	}
}

func TestStop_BeforeItIsWaitedFor(t *testing.T) {
	t.Parallel()
	exit := run(t, shell("sleep 300"), (*supervise.Process).Kill)
	if exit.Reason != supervise.Stopped || exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v", exit)
	}
}

// After the end nothing happens: neither to the command nor to a process that has its pid by now.
func TestStop_AfterTheEnd(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]time.Duration{"Unwatched": 0, "Watched": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p *supervise.Process
			spec := shell("exit 3")
			spec.Timeout = limit
			exit := run(t, spec, func(q *supervise.Process) { p = q })
			p.Stop(supervise.Terminate)
			p.Kill()
			p.Signal(syscall.SIGTERM)
			p.Beat()
			p.Delivered()
			p.Delivered()
			if killed, left := p.EndTree(); killed != 0 || left != nil {
				t.Errorf("%d, %v", killed, left)
			}
			if exit.Code != 3 || p.PID() <= 0 {
				t.Errorf("%+v, pid %d", exit, p.PID())
			}
		})
	}
}

// Whatever comes in the instant of the end must neither hang nor race.
func TestStop_AtTheEnd(t *testing.T) {
	t.Parallel()
	for range rounds(t) * 3 {
		asked := make(chan bool)
		spec := shell("exit 0")
		exit := run(t, spec, func(p *supervise.Process) {
			go func() {
				p.Signal(syscall.SIGURG)
				p.Stop(supervise.Terminate)
				p.Kill()
				p.EndTree()
				close(asked)
			}()
		})
		<-asked
		if exit.Reason != supervise.Exited && exit.Reason != supervise.Stopped {
			t.Fatalf("%+v", exit)
		}
	}
}

// A stopped process does not handle a signal until it is continued, so it is.
func TestStop_SuspendedCommandCanStillEndItself(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	spec := shell(`trap 'exit 6' TERM; : > "$1"; kill -STOP $$; while :; do sleep 0.01; done`, ready)
	spec.Timeout = 3 * time.Second // it has its trap by then
	if exit := run(t, spec, nil); exit.Code != 6 || exit.Reason != supervise.Deadline {
		t.Errorf("%+v", exit)
	}
}

func TestStop_SuspendedTreeIsKilled(t *testing.T) {
	t.Parallel()
	ready := filepath.Join(t.TempDir(), "ready")
	spec := shell(`setsid sh -c ': > "$0"; kill -STOP $$' "$1" & trap '' TERM; kill -STOP $$; while :; do sleep 0.01; done`, ready)
	spec.Stdout = &bytes.Buffer{}
	exit := run(t, spec, whenReady(ready, func(p *supervise.Process) { p.Stop(hurried(supervise.Terminate)) }))
	if exit.Signal != syscall.SIGKILL {
		t.Errorf("%+v", exit)
	}
	noneLeft(t, spec.RunID)
}

// A signal that is passed on is for the command: it tells its children itself, if it wants to.
func TestSignal_ReachesTheCommandAlone(t *testing.T) {
	t.Parallel()
	for name, placement := range map[string]supervise.Placement{
		"OwnGroup": supervise.OwnGroup, "OwnSession": supervise.OwnSession, "SharedGroup": supervise.SharedGroup,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ready := filepath.Join(t.TempDir(), "ready")
			spec := shell(`trap 'exit 7' USR1; sleep 300 & : > "$1"; wait`, ready)
			spec.Placement = placement
			var p *supervise.Process
			exit := run(t, spec, func(q *supervise.Process) {
				p = q
				whenReady(ready, func(p *supervise.Process) { p.Signal(syscall.SIGUSR1) })(q)
			})
			if exit.Code != 7 || exit.Reason != supervise.Exited {
				t.Errorf("%+v", exit)
			}
			if killed, left := p.EndTree(); killed != 1 || left != nil {
				t.Errorf("ended %d, left %v", killed, left)
			}
			noneLeft(t, spec.RunID)
		})
	}
}

// A command that leaves the group that was made for it is still found. (bash gives itself a group when it is interactive.)
func TestStop_RootThatLeftItsGroup(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/perl"); err != nil {
		t.Skip("perl is not installed")
	}
	ready := filepath.Join(t.TempDir(), "ready")
	spec := supervise.Spec{Path: "/usr/bin/perl", RunID: newID(), Args: []string{"perl", "-e", `
		my $pid = fork();                     # one stays behind in the old group
		if (!$pid) { sleep 300; exit }
		my $other = fork();
		if (!$other) { setpgrp(0, 0); sleep 300; exit }
		my $n = 0;                            # the other may need a while to make its group
		until (setpgrp(0, $other)) { die "$!" if $n++ > 1000; select(undef, undef, undef, 0.02) }
		$SIG{TERM} = sub { exit 9 };
		open(my $f, '>', $ARGV[0]); close $f;
		sleep 300 while 1;`, ready}}
	exit := run(t, spec, whenReady(ready, func(p *supervise.Process) { p.Stop(supervise.Terminate) }))
	if exit.Code != 9 || exit.Reason != supervise.Stopped {
		t.Errorf("%+v", exit)
	}
	noneLeft(t, spec.RunID)
}
