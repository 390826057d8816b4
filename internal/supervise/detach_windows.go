package supervise

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// Detach starts a program that goes on without us. It is not waited for.
func Detach(path string, args []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, RunIDVar+"=") })
	p, err := os.StartProcess(path, args, &os.ProcAttr{Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}})
	if err != nil {
		return err
	}
	go p.Wait() // if it ends before us, its handle must be closed
	return nil
}
