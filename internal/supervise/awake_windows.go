package supervise

import (
	"errors"
	"runtime"

	"golang.org/x/sys/windows"
)

// KeepAwake keeps the machine from going to sleep until release is called or this process ends: the system takes the request of a thread back that has ended.
func KeepAwake() (release func(), err error) {
	const continuous, systemRequired = 0x80000000, 0x00000001
	set := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState")
	kept, over := make(chan bool), make(chan struct{})
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		before, _, _ := set.Call(continuous | systemRequired)
		kept <- before != 0
		<-over
	}()
	if !<-kept {
		close(over)
		return nil, errors.New("the system refuses it")
	}
	return func() { close(over) }, nil
}
