package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// LedByUs is false: the console reaches all processes attached to it.
func LedByUs() bool { return false }

// ReaderGone reports whether f is a pipe without a reader. It cannot be known here.
func ReaderGone(*os.File) bool { return false }

// Shared is false: there are no process groups in front of a console.
func Shared() bool { return false }

// EarlyInterrupts is none: the console sends them to every process that is attached to it.
func EarlyInterrupts() (passed int, expected bool) { return 0, false }

// IsTerminal reports whether f is a console.
func IsTerminal(f *os.File) bool {
	var mode uint32
	return windows.GetConsoleMode(windows.Handle(f.Fd()), &mode) == nil
}

// Terminal does nothing here: the console controls its terminal itself.
type Terminal struct{}

// Release does nothing here.
func (t *Terminal) Release(int, func(group int) bool, bool) {}
