//go:build unix

package supervise

import (
	"os"
	"slices"
	"strings"
	"syscall"
)

// Detach starts a program that goes on without us: in a session of its own, with nothing to read or write, in the root
// directory, and without the mark of a run, so that it is not taken for what a run has left. It is not waited for.
func Detach(path string, args []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, RunIDVar+"=") })
	p, err := os.StartProcess(path, args, &os.ProcAttr{Dir: "/", Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		return err
	}
	unmark(p.Pid)
	go p.Wait() // if it ends before us, it must not stay as a zombie
	return nil
}
