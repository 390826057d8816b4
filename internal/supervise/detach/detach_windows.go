package detach

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// rootDir means our own directory.
const rootDir = ""

// ownSession lets a process lead a group of its own, which no console belongs to. One that starts commands has a console that is not shown: without one, each
// command would open its own.
func ownSession(commands bool) *syscall.SysProcAttr {
	flags := uint32(windows.DETACHED_PROCESS)
	if commands {
		flags = windows.CREATE_NO_WINDOW
	}
	return &syscall.SysProcAttr{CreationFlags: flags | windows.CREATE_NEW_PROCESS_GROUP}
}

func forget(int) {}
