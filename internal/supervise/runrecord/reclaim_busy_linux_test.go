package runrecord

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise/proctable"
	"github.com/belay-run/belay/internal/test/must"
)

// On an overloaded machine the timeout can pass during the first look at the processes. What was only asked to end so far
// is still killed, and every process that is reported as ended has ended.
func TestReclaim_PatienceOverAtOnce(t *testing.T) {
	t.Parallel()
	id := fmt.Sprintf("busy-%d-%d", os.Getpid(), time.Now().UnixNano())
	cmd := exec.Command("/bin/sh", "-c", `trap "" TERM; echo ready; while :; do sleep 0.1; done`)
	cmd.Env = append(os.Environ(), proctable.RunIDVar+"="+id)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.OK(t, err)
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	ended, _, _ := endMarked(func(p proctable.Proc) []string { return p.Runs([]string{id}) }, 0)
	said := slices.ContainsFunc(ended, func(p proctable.Proc) bool { return p.PID == cmd.Process.Pid })
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid)) // it was not waited for, so it is there
	must.OK(t, err)
	if said && !strings.Contains(string(stat), ") Z ") {
		t.Errorf("%v is said to have been ended, and lives: %s", ended, stat)
	}
	late := time.AfterFunc(time.Minute, func() { cmd.Process.Signal(syscall.SIGABRT) })
	defer late.Stop()
	cmd.Wait()
	if ws := cmd.ProcessState.Sys().(syscall.WaitStatus); ws.Signal() != syscall.SIGKILL {
		t.Errorf("it was not killed: %v", cmd.ProcessState)
	}
}
