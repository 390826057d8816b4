//go:build linux

package mcp_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// children are the processes that a process has started.
func children(pid int) (list []int) {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, task := range tasks {
		data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, task.Name()))
		for _, field := range strings.Fields(string(data)) {
			n, _ := strconv.Atoi(field)
			list = append(list, n)
		}
	}
	return list
}

// Nothing is answered twice and nothing is lost while the server is killed again and again.
func TestChaos_EveryCallIsAnsweredOnce(t *testing.T) {
	s := newStage(t)
	r := s.raw(s.belay("plain", "--no-gate"))
	r.answersOnce(func() (kills int) {
		for _, pid := range children(r.cmd.Process.Pid) {
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				kills++
			}
		}
		return kills
	})
}

// answersOnce makes thousands of calls, sixteen at a time, while the server is killed five times a second, and checks that each is answered once.
// kill returns how many servers it has ended.
func (r *raw) answersOnce(kill func() int) {
	r.t.Helper()
	const workers = 16
	calls := 500 // those that are sent again wait a second or more
	if full {
		calls = 2000
	}
	t := r.t
	r.open("2025-11-25")
	r.ask(`"list"`, `{"jsonrpc":"2.0","id":"list","method":"tools/list"}`) // now it is known which tool may be called twice
	stop := make(chan struct{})
	var killer sync.WaitGroup
	kills := 0
	killer.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(200 * time.Millisecond):
			}
			kills += kill()
		}
	})
	var next, well, lost atomic.Int64
	var work sync.WaitGroup
	begin := time.Now()
	for range workers {
		work.Go(func() {
			for n := next.Add(1); n <= int64(calls); n = next.Add(1) {
				id, name := strconv.FormatInt(n, 10), []string{"echo", "look"}[n%2]
				m := r.tool(id, name, fmt.Sprintf(`{"text":"%d"}`, n))
				switch {
				case m.Error != nil:
					t.Errorf("call %d of a tool was answered with an error: %s", n, m.line)
				case m.Result.IsError:
					lost.Add(1)
				case m.text() != id:
					t.Errorf("call %d was answered with %q", n, m.text())
				default:
					well.Add(1)
				}
				if t.Failed() {
					return
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	work.Wait()
	close(stop)
	killer.Wait()
	t.Logf("%d calls, %d servers killed, %d calls done, %d lost and said to be, in %v", calls, kills, well.Load(), lost.Load(), time.Since(begin))
	for id, n := range r.answers() {
		if n != 1 {
			t.Errorf("%s was answered %d times", id, n)
		}
	}
	if got := len(r.answers()); !t.Failed() && got != calls+2 {
		t.Errorf("%d requests were answered, want %d", got, calls+2)
	}
	if well.Load() == 0 || kills == 0 {
		t.Errorf("nothing was tried")
	}
}
