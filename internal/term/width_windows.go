package term

import (
	"os"

	"golang.org/x/sys/windows"
)

// width is how many columns the console has that f is; 0 if it is none.
func width(f *os.File) int {
	var info windows.ConsoleScreenBufferInfo
	if windows.GetConsoleScreenBufferInfo(windows.Handle(f.Fd()), &info) != nil {
		return 0
	}
	return int(info.Window.Right-info.Window.Left) + 1
}

// takesEscapes reports whether the console f is takes escape sequences for what they are, and not for text. Since Windows 10 it does if
// it is asked to.
func takesEscapes(f *os.File) bool {
	const vt = windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING
	h := windows.Handle(f.Fd())
	var mode uint32
	return windows.GetConsoleMode(h, &mode) == nil && (mode&vt != 0 || windows.SetConsoleMode(h, mode|vt) == nil)
}
