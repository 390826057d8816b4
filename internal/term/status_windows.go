package term

import (
	"os"

	"github.com/belay-run/belay/internal/supervise"
)

// console is the console of this process.
type console struct{ file *os.File }

func newTerminal(file *os.File) terminal { return console{file} }

func (c console) width() int     { return width(c.file) }
func (c console) inFront() bool  { return true }
func (c console) writable() bool { return true }

// takesOutput reports whether a terminal takes output now.
func takesOutput(*os.File) bool { return true }

// suspends: a console stops no process.
func (c console) suspends() (asked <-chan os.Signal, stop, end func()) {
	return nil, nil, func() {}
}

// sameTerminal reports whether both are consoles: a process has one.
func sameTerminal(a, b *os.File) bool { return supervise.IsTerminal(a) && supervise.IsTerminal(b) }
