//go:build unix

package supervise

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// startDetached starts a program with nothing to read or write.
func startDetached(path string, args []string) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, RunIDVar+"=") })
	p, err := os.StartProcess(path, args, &os.ProcAttr{Dir: "/", Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err == nil {
		unmark(p.Pid)
	}
	return p, err
}
