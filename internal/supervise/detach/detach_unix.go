//go:build unix

package detach

import (
	"syscall"

	"github.com/belay-run/belay/internal/supervise/proctable"
)

// rootDir is where a program keeps no directory from being removed.
const rootDir = "/"

// ownSession lets a process lead a session of its own, which no terminal belongs to.
func ownSession(bool) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// forget takes the mark of our run off a process.
func forget(pid int) { proctable.Unmark(pid) }
