package supervise_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

func init() {
	// abandoned runs a tree on record, as belay does, and waits to be killed.
	helpers["abandoned"] = func(args []string) {
		dir, id, ready := args[0], args[1], args[2]
		if _, err := (supervise.Records{Dir: dir}).Create(supervise.Record{ID: id, Started: time.Now(), Attempt: 1}); err != nil {
			panic(err)
		}
		s := supervise.Own()
		_, err := s.Run(supervise.Spec{Path: "/bin/sh", RunID: id, Args: []string{"sh", "-c", `
			setsid sleep 300 &
			setsid sh -c 'sleep 300 & exit'
			(trap '' TERM; sleep 300) &
			sleep 300 &
			: > "$0"; wait`, ready}}, nil)
		panic(fmt.Sprint("not killed: ", err))
	}
	helpers["reclaim"] = func(args []string) {
		ended, err := supervise.Records{Dir: args[0]}.Reclaim()
		fmt.Println(len(ended), err)
	}
}

// abandon makes an owner of a run, and kills it.
func abandon(t *testing.T, dir string) (id string) {
	t.Helper()
	id = newID()
	ready := filepath.Join(t.TempDir(), "ready")
	cmd := helper("abandoned", dir, id, ready)
	must.OK(t, cmd.Start())
	eventually(t, "the tree stands", func() bool { return exists(ready) })
	cmd.Process.Kill()
	cmd.Wait()
	if len(carriers(id)) == 0 {
		t.Fatal("it has left nothing behind: nothing is tested")
	}
	return id
}

// sleeper is a process with a marker.
func sleeper(t *testing.T, markers string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("/bin/sleep", "300")
	cmd.Env = []string{supervise.RunIDVar + "=" + markers}
	must.OK(t, cmd.Start())
	done := make(chan struct{})
	go func() {
		cmd.Wait()
		close(done)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-done
	})
	return cmd
}

// alive reports whether it runs. Once it has ended it may still be there, until it has been waited for.
func alive(cmd *exec.Cmd) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

func reclaim(t *testing.T, dir string) (pids []int) {
	t.Helper()
	ended, err := supervise.Records{Dir: dir}.Reclaim()
	must.OK(t, err)
	for _, p := range ended {
		pids = append(pids, p.PID)
	}
	return pids
}

// forge writes the record of an owner that never existed.
func forge(t *testing.T, dir, id string, change func(*supervise.Owner)) {
	t.Helper()
	made := create(t, supervise.Records{Dir: t.TempDir()}, supervise.Record{ID: id})
	o := made.Owner
	change(&o)
	name := fmt.Sprintf("%s.%d.%d.%s", o.Boot, o.PID, o.Start, id)
	must.OK(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
}

func TestReclaim_KilledOwner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	bystander := sleeper(t, newID()) // of the same name, and with a marker too
	living := newID()
	create(t, supervise.Records{Dir: dir}, supervise.Record{ID: living})
	marked := sleeper(t, living)
	first, second := abandon(t, dir), abandon(t, dir)
	were := append(carriers(first), carriers(second)...)
	ended := reclaim(t, dir)
	noneLeft(t, first)
	noneLeft(t, second)
	for _, pid := range ended {
		// A process may have started another one meanwhile, but what was there and what was ended must overlap only so.
		if pid == bystander.Process.Pid || pid == marked.Process.Pid || pid == os.Getpid() {
			t.Errorf("process %d was ended", pid)
		}
	}
	if len(ended) < 4 {
		t.Errorf("of %v only %v were ended", were, ended)
	}
	if !alive(bystander) || !alive(marked) {
		t.Error("a process of somebody else was ended")
	}
	if left := names(t, dir); len(left) != 1 || !strings.HasSuffix(left[0], "."+living) {
		t.Errorf("records left: %q", left)
	}
	if again := reclaim(t, dir); len(again) != 0 {
		t.Errorf("and again %v", again)
	}
}

func TestReclaim_NestedRuns(t *testing.T) {
	t.Parallel()
	dead := func(o *supervise.Owner) { o.Start++ }
	for name, tt := range map[string]struct {
		dead  string // its owner has ended
		ended []string
	}{
		"Outer":  {"outer", []string{"outer", "outer,inner"}},
		"Inner":  {"inner", []string{"outer,inner"}},
		"Prefix": {"oute", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, unique := t.TempDir(), newID()+"-"
			forge(t, dir, unique+tt.dead, dead)
			for _, list := range []string{"outer", "outer,inner", "other"} {
				cmd := sleeper(t, unique+strings.ReplaceAll(list, ",", ","+unique))
				ended := reclaim(t, dir)
				if want := slices.Contains(tt.ended, list); want == alive(cmd) || want != slices.Equal(ended, []int{cmd.Process.Pid}) {
					t.Errorf("%s: alive is %t, ended %v", list, alive(cmd), ended)
				}
				forge(t, dir, unique+tt.dead, dead) // for the next
			}
		})
	}
}

// What a record must be to give the right to end anything.
func TestReclaim_OnlyTheDead(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change       func(*supervise.Owner)
		ended, stays bool // the process; the record
	}{
		"Living":         {func(*supervise.Owner) {}, false, true},
		"PidUsedAgain":   {func(o *supervise.Owner) { o.Start-- }, true, false},
		"PidUnused":      {func(o *supervise.Owner) { o.PID = 1 << 30 }, true, false},
		"OtherBoot":      {func(o *supervise.Owner) { o.Boot = "ffffffff" + o.Boot[8:] }, false, false},
		"OtherContainer": {func(o *supervise.Owner) { o.Boot += "1"; o.PID = 1 << 30 }, false, true},
		"UnknownBoot":    {func(o *supervise.Owner) { o.Boot = "0" + o.Boot[8:]; o.PID = 1 << 30 }, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, id := t.TempDir(), newID()
			forge(t, dir, id, tt.change)
			cmd := sleeper(t, id)
			ended := reclaim(t, dir)
			if alive(cmd) == tt.ended || tt.ended != (len(ended) == 1) {
				t.Errorf("alive is %t, ended %v", alive(cmd), ended)
			}
			if stays := len(names(t, dir)) == 1; stays != tt.stays {
				t.Errorf("the record stays is %t", stays)
			}
		})
	}
}

// A replacement that never replaced anything goes with its record.
func TestReclaim_HalfUpdated(t *testing.T) {
	t.Parallel()
	dir, id := t.TempDir(), newID()
	forge(t, dir, id, func(o *supervise.Owner) { o.Start++ })
	name := filepath.Join(dir, names(t, dir)[0])
	must.OK(t, os.WriteFile(name+".new", nil, 0o600))
	reclaim(t, dir)
	if left := names(t, dir); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
}

// A process in the run of a dead owner does not end that run: it would end the processes that wait for it.
func TestReclaim_FromWithin(t *testing.T) {
	t.Parallel()
	dir, id := t.TempDir(), newID()
	forge(t, dir, id, func(o *supervise.Owner) { o.Start++ })
	parent := sleeper(t, id)
	cmd := helper("reclaim", dir)
	cmd.Env = append(cmd.Env, supervise.RunIDVar+"=outer,"+id)
	if out, err := cmd.Output(); err != nil || string(out) != "0 <nil>\n" {
		t.Errorf("%q, %v", out, err)
	}
	if !alive(parent) || len(names(t, dir)) != 1 {
		t.Error("it has ended the run it is part of")
	}
}

// Nothing to reclaim must cost next to nothing: every start asks.
func BenchmarkReclaim_Nothing(b *testing.B) {
	r := supervise.Records{Dir: b.TempDir()}
	create(b, r, supervise.Record{ID: "a"})
	for b.Loop() {
		if _, err := r.Reclaim(); err != nil {
			b.Fatal(err)
		}
	}
}
