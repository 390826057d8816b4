package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// runOwned runs it with an owner.
func runOwned(t testing.TB, s *supervise.Supervisor, spec supervise.Spec, started func(*supervise.Process)) supervise.Exit {
	t.Helper()
	exit, err := s.Run(spec, started)
	must.OK(t, err)
	return exit
}

func TestOwner_Exit(t *testing.T) {
	s := own(t)
	for i := range 10 {
		spec := shell(fmt.Sprintf("echo x; exit %d", i))
		var out bytes.Buffer
		spec.Stdout = &out
		exit := runOwned(t, s, spec, nil)
		if exit.Code != i || exit.Left != nil || out.String() != "x\n" || exit.CPU <= 0 {
			t.Errorf("%+v", exit)
		}
	}
	if exit := runOwned(t, s, shell("kill -HUP $$"), nil); exit.Signal != syscall.SIGHUP {
		t.Errorf("%+v", exit)
	}
	if _, err := s.Run(supervise.Spec{Path: "/no/such", Args: []string{"x"}}, nil); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// Two owners would take each other's children: there is only one, however often it is asked for.
func TestOwner_IsOne(t *testing.T) {
	one, other := own(t), own(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			s := one
			if i%2 == 0 {
				s = other
			}
			if exit, err := s.Run(shell(fmt.Sprintf("sleep 0.0%d; exit %d", i%7, i)), nil); err != nil || exit.Code != i {
				t.Errorf("%+v, %v; want %d", exit, err, i)
			}
		})
	}
	wg.Wait()
}

// What a command leaves behind is reported with an owner even if it has gone as far as it can, and ended when asked for.
func TestOwner_Left(t *testing.T) {
	for tree, script := range map[string]string{
		"SameGroup":  `sleep 300 &`,
		"NewSession": `setsid sleep 300 &`,
		"Daemon":     `setsid sh -c 'sleep 300 & exit'`,
		"NoMarker":   `env -i setsid sh -c 'sleep 300 & exit'`,
		"IgnoresTERM": `trap '' TERM
setsid sleep 300 &`,
	} {
		t.Run(tree, func(t *testing.T) {
			s := own(t)
			var p *supervise.Process
			exit := runOwned(t, s, shell(script+"\nexit 3"), func(q *supervise.Process) {
				p = q
				if killed, left := p.EndTree(); killed != 0 || left != nil { // not its time yet
					t.Errorf("ended %d, left %v while it runs", killed, left)
				}
			})
			if exit.Code != 3 || exit.Killed != 0 || len(exit.Left) == 0 {
				t.Fatalf("%+v", exit)
			}
			var names []string
			for _, q := range exit.Left {
				names = append(names, q.Name)
			}
			if !slices.Contains(names, "sleep") && !slices.Contains(names, "setsid") && !slices.Contains(names, "sh") {
				t.Errorf("left: %v", names)
			}
			if killed, left := p.EndTree(); killed < 1 || left != nil {
				t.Errorf("ended %d, left %v", killed, left)
			}
			if _, err := os.FindProcess(exit.Left[0].PID); err == nil && syscall.Kill(exit.Left[0].PID, 0) == nil {
				t.Errorf("%v lives", exit.Left[0])
			}
		})
	}
}

// Commands that run side by side are ended one by one: the descendants of others stay.
func TestOwner_SideBySide(t *testing.T) {
	for name, id := range map[string]func() string{"Marked": newID, "Unmarked": func() string { return "" }} {
		t.Run(name, func(t *testing.T) {
			s := own(t)
			dir := t.TempDir()
			var wg sync.WaitGroup
			wg.Go(func() {
				ready := filepath.Join(dir, "one")
				spec := shell(`setsid sleep 300 & sleep 300 & : > "$1"; wait`, ready)
				spec.RunID = id()
				exit, err := s.Run(spec, whenReady(ready, func(p *supervise.Process) {
					within(testTimeout, func() bool { return exists(filepath.Join(dir, "two")) })
					p.Stop(hurried(supervise.Terminate))
				}))
				if err != nil || exit.Reason != supervise.Stopped || len(exit.Left) > 0 {
					t.Errorf("%+v, %v", exit, err)
				}
				os.WriteFile(filepath.Join(dir, "over"), nil, 0o600)
			})
			wg.Go(func() {
				// Its child outlives the end of the other command, and says so.
				spec := shell(`sh -c ': > "$0/two"; while [ ! -e "$0/over" ]; do sleep 0.01; done; exit 8' "$1"`, dir)
				spec.RunID, spec.Timeout = id(), 10*testTimeout
				if exit, err := s.Run(spec, nil); err != nil || exit.Code != 8 || exit.Reason != supervise.Exited {
					t.Errorf("%+v, %v", exit, err)
				}
			})
			wg.Wait()
		})
	}
}

func init() {
	helpers["owner"] = func(args []string) {
		s := supervise.Own()
		defer s.Disown()
		spec := supervise.Spec{Path: "/bin/sh", RunID: args[0], Args: []string{"sh", "-c", `setsid sleep 300 & wait`}}
		spec.Timeout, spec.Ladder = 100*time.Millisecond, hurried(supervise.Terminate)
		exit, err := s.Run(spec, nil)
		fmt.Println(exit.Reason, len(exit.Left), err)
	}
}

// A shell that has started something in the background and then executes us leaves us its children, and those have
// nothing to do with the command: `server & exec belay run -- client`.
func TestOwner_ChildrenFromBefore(t *testing.T) {
	t.Parallel()
	id, other := newID(), newID()
	// The one from before also leaves orphans while we run, and they come to us.
	cmd := exec.Command("/bin/sh", "-c", supervise.RunIDVar+`=`+other+` sh -c '
		while :; do sh -c "sleep 0.05 & exit"; sleep 0.01; done' > /dev/null 2>&1 & sleep 0.1; exec "$0" `+id, os.Args[0])
	cmd.Env, cmd.WaitDelay = append(os.Environ(), helperVar+"=owner"), testTimeout
	t.Cleanup(func() {
		for _, pid := range carriers(other) {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	out, err := cmd.Output()
	if err != nil || string(out) != "deadline 0 <nil>\n" {
		t.Errorf("%q, %v", out, err)
	}
	noneLeft(t, id)
	if len(carriers(other)) == 0 {
		t.Error("the other one was ended too")
	}
}

// Other code in the process has waited for any child and got ours. Then the status is lost, which must neither hang nor
// look like success.
func TestRun_StatusTakenByOthers(t *testing.T) {
	for name, s := range map[string]func(testing.TB) *supervise.Supervisor{
		"Library": func(testing.TB) *supervise.Supervisor { return &supervise.Supervisor{} }, "Owner": own,
	} {
		t.Run(name, func(t *testing.T) {
			exit := runOwned(t, s(t), shell("exit 0"), func(p *supervise.Process) {
				for {
					if pid, _ := syscall.Wait4(p.PID(), nil, 0, nil); pid == p.PID() {
						return
					}
				}
			})
			if exit.Code != -1 || exit.Signal != 0 || exit.ShellCode() != 125 {
				t.Errorf("%+v, for a shell %d", exit, exit.ShellCode())
			}
		})
	}
}

func TestOwner_DisownTwice(t *testing.T) {
	s := own(t)
	s.Disown()
	s.Disown()
	if exit := runOwned(t, s, shell("exit 4"), nil); exit.Code != 4 {
		t.Errorf("%+v", exit)
	}
}
