package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// grace is how long what tests have started may take to end by itself, as belayd does that brings the record up to date.
func grace() time.Duration {
	if d, err := time.ParseDuration(os.Getenv(graceVar)); err == nil {
		return d
	}
	return 20 * time.Second
}

// own makes this process the parent of all that the tests leave, and lets them end with it.
func own(cmd *exec.Cmd) {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	runtime.LockOSThread() // the kernel ties the death signal to the thread
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// reap waits for what the tests have left, and ends and names what does not end.
func reap() (left []string) {
	for end := time.Now().Add(grace()); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		for {
			pid, err := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
			if err == syscall.ECHILD {
				return nil
			}
			if pid <= 0 {
				break
			}
		}
	}
	for {
		pids := children()
		if len(pids) == 0 {
			return left
		}
		for _, pid := range pids {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
			left = append(left, fmt.Sprintf("%d %.200s", pid, strings.ReplaceAll(string(line), "\x00", " ")))
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// children are the processes whose parent this is.
func children() (pids []int) {
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	for _, name := range lists {
		text, _ := os.ReadFile(name)
		for word := range strings.FieldsSeq(string(text)) {
			if pid, err := strconv.Atoi(word); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}
