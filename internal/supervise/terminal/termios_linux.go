package terminal

import (
	"runtime"

	"golang.org/x/sys/unix"
)

const (
	getTermios = unix.TCGETS
	setTermios = unix.TCSETS
)

// inBackground calls f, which changes the terminal. A process that does so from the background is stopped by SIGTTOU,
// unless the thread blocks it; nothing that a child could inherit is changed.
func inBackground(f func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var ttou, before unix.Sigset_t
	ttou.Val[0] = 1 << (unix.SIGTTOU - 1)
	unix.PthreadSigmask(unix.SIG_BLOCK, &ttou, &before)
	defer unix.PthreadSigmask(unix.SIG_SETMASK, &before, nil)
	f()
}
