//go:build unix

package term

import (
	"os"

	"golang.org/x/sys/unix"
)

// width is how many columns the terminal has that f is; 0 if it is none.
func width(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}

// takesEscapes is true: all terminals do, unless TERM says that they do not.
func takesEscapes(*os.File) bool { return true }
