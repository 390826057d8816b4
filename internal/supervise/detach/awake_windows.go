package detach

import (
	"errors"
	"runtime"

	"golang.org/x/sys/windows"
)

// KeepAwake keeps the machine from going to sleep until this process ends: the system takes the request of a thread back that has ended.
func KeepAwake() error {
	const continuous, systemRequired = 0x80000000, 0x00000001
	kept := make(chan bool)
	go func() {
		runtime.LockOSThread() // for good
		before, _, _ := windows.NewLazySystemDLL("kernel32.dll").NewProc("SetThreadExecutionState").Call(continuous | systemRequired)
		kept <- before != 0
		select {}
	}()
	if !<-kept {
		return errors.New("the system refuses it")
	}
	return nil
}
