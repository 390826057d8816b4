//go:build unix

package call

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// SignalName is the name of a signal, as "SIGTERM".
func SignalName(sig syscall.Signal) string { return unix.SignalName(sig) }
