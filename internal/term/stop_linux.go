package term

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// stopSelf stops this process as a SIGTSTP that is not caught does, and returns when it continues; at once where no shell is above it.
// Go keeps its handler of a signal that was caught once, so the system's own action is put in its place meanwhile.
func stopSelf() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var standard, ours [64]byte // larger than any sigaction; all zero is SIG_DFL
	if !setAction(syscall.SIGTSTP, &standard, &ours) {
		return
	}
	unix.Tgkill(unix.Getpid(), unix.Gettid(), syscall.SIGTSTP) // sent to this thread, it has stopped us when this returns
	setAction(syscall.SIGTSTP, &ours, nil)
}

func setAction(sig syscall.Signal, action, before *[64]byte) bool {
	const setSize = 8 // bytes of a signal set, as the kernel has it
	_, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(action)), uintptr(unsafe.Pointer(before)), setSize, 0, 0)
	return errno == 0
}
