package cli

import "syscall"

// end takes requests to end: the first one is passed on, the second kills. A proxy ignores other signals; a broken pipe
// shows where it is written to.
func (s signals) end(first func(syscall.Signal), second func()) {
	asked := false
	for got := range s {
		sig, ok := got.(syscall.Signal)
		if !ok || sig != syscall.SIGINT && sig != syscall.SIGTERM && sig != syscall.SIGHUP {
			continue
		}
		if asked {
			second()
			continue
		}
		asked = true
		first(sig)
	}
}
