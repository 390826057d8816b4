package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETSW
	noKey      = 0 // _POSIX_VDISABLE
)

// stopKeys are those by which the terminal stops a process.
var stopKeys = []int{unix.VSUSP}
