//go:build unix && !linux

package term

import "syscall"

// stopSelf stops this process, unless no shell is above it. Go keeps its handler of a signal that was caught once, so a SIGTSTP would not
// stop us; SIGTTIN does the same, and is never caught.
func stopSelf() { syscall.Kill(syscall.Getpid(), syscall.SIGTTIN) }
