//go:build amd64 || arm64

package supervise_test

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// refuse has the kernel refuse system calls to this process and its children, as sandboxes do.
func refuse(calls ...uint32) error {
	filter := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // the number of the call
	for i, call := range calls {
		filter = append(filter, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: call, Jt: uint8(len(calls) - i)})
	}
	filter = append(filter, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)})
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); errno != 0 {
		return errno
	}
	return nil
}

// "sandbox CALLS" runs a command with a time limit where these system calls are refused, and prints how it ended.
func init() {
	helpers["sandbox"] = func(args []string) {
		var calls []uint32
		for text := range strings.SplitSeq(args[0], ",") {
			n, _ := strconv.ParseUint(text, 10, 32)
			calls = append(calls, uint32(n))
		}
		if err := refuse(calls...); err != nil {
			fmt.Println("no seccomp:", err)
			return
		}
		supervisor := &supervise.Supervisor{}
		if args[1] == "owner" {
			supervisor = supervise.Own()
		}
		spec := shell("setsid sleep 300 & sleep 300") // of which no signal to a group reaches all
		spec.Placement, spec.Timeout, spec.Ladder = supervise.OwnGroup, 50*time.Millisecond, supervise.Ladder{}
		exit, err := supervisor.Run(spec, func(*supervise.Process) {})
		fmt.Println(err, exit.Signal, len(exit.Left))
	}
}

// A command is started, and ended with its tree, where a sandbox refuses one of the calls for that.
func TestSandbox(t *testing.T) {
	for name, calls := range map[string][]uint32{
		"NoPidfdSignal":         {unix.SYS_PIDFD_SEND_SIGNAL},
		"NoPidfd":               {unix.SYS_PIDFD_OPEN},
		"NoPrctl":               {unix.SYS_PRCTL},
		"NoPrctlNorPidfdSignal": {unix.SYS_PRCTL, unix.SYS_PIDFD_SEND_SIGNAL},
	} {
		for _, kind := range []string{"library", "owner"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				var numbers []string
				for _, call := range calls {
					numbers = append(numbers, fmt.Sprint(call))
				}
				cmd := helper("sandbox", strings.Join(numbers, ","), kind)
				out := &strings.Builder{}
				cmd.Stdout = out
				must.OK(t, cmd.Start())
				late := time.AfterFunc(testTimeout, func() { cmd.Process.Signal(os.Kill) })
				defer late.Stop()
				err := cmd.Wait()
				if strings.HasPrefix(out.String(), "no seccomp") {
					t.Skip(out)
				}
				if err != nil || out.String() != "<nil> killed 0\n" {
					t.Errorf("%v: %s", err, out)
				}
			})
		}
	}
}
