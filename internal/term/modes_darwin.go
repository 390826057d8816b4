package term

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETAW
	noKey      = 0xff // _POSIX_VDISABLE
)

// stopKeys are those by which the terminal stops a process.
var stopKeys = []int{unix.VSUSP, unix.VDSUSP}
