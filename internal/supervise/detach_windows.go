package supervise

import (
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"
)

// startDetached starts a program with nothing to read or write.
func startDetached(path string, args []string) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	env := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, RunIDVar+"=") })
	return os.StartProcess(path, args, &os.ProcAttr{Env: env, Files: []*os.File{null, null, null},
		Sys: &syscall.SysProcAttr{CreationFlags: windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP}})
}
