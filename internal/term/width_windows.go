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
