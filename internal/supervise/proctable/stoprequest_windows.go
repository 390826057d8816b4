package proctable

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// StopRequests returns a channel that gets a value whenever another process asks this one to stop ([Owner.Terminate]). The system
// has no signal for that, so there is an event with a name that both know. It is nil if the system refuses one; then this process
// is ended instead.
func StopRequests() <-chan struct{} {
	self, err := Self()
	if err != nil {
		return nil
	}
	name, err := windows.UTF16PtrFromString(stopEvent(Proc{PID: self.PID, Start: self.Start}))
	if err != nil {
		return nil
	}
	event, _ := windows.CreateEvent(nil, 0, 0, name) // the error may be ERROR_ALREADY_EXISTS, with the event of an earlier call
	if event == 0 {
		return nil
	}
	requests := make(chan struct{})
	go func() {
		for {
			if got, err := windows.WaitForSingleObject(event, windows.INFINITE); err != nil || got != windows.WAIT_OBJECT_0 {
				return
			}
			requests <- struct{}{}
		}
	}()
	return requests
}

// requestStop reports whether the process waits for such requests, and has been sent one.
func requestStop(p Proc) bool {
	name, err := windows.UTF16PtrFromString(stopEvent(p))
	if err != nil {
		return false
	}
	event, err := windows.OpenEvent(windows.EVENT_MODIFY_STATE, false, name)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(event)
	return windows.SetEvent(event) == nil
}

// stopEvent is the name of the event of a process. Global means: also from another session of the user's, such as one by ssh.
func stopEvent(p Proc) string { return fmt.Sprintf(`Global\belay-stop-%d-%d`, p.PID, p.Start) }
