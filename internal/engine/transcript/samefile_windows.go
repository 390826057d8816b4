package transcript

import (
	"os"

	"golang.org/x/sys/windows"

	"github.com/belay-run/belay/internal/supervise"
)

var compareObjectHandles = windows.NewLazySystemDLL("kernelbase.dll").NewProc("CompareObjectHandles")

// sameOpenFile reports whether two files are one. [os.SameFile] takes any two pipes for one here, and any two consoles, of which a
// process has only one.
func sameOpenFile(f, g *os.File) bool {
	a, b := windows.Handle(f.Fd()), windows.Handle(g.Fd())
	kind, err := windows.GetFileType(a)
	other, err2 := windows.GetFileType(b)
	switch {
	case err != nil || err2 != nil || kind != other:
		return false
	case kind == windows.FILE_TYPE_DISK:
		fi, err := f.Stat()
		gi, err2 := g.Stat()
		return err == nil && err2 == nil && os.SameFile(fi, gi)
	case kind == windows.FILE_TYPE_CHAR:
		return supervise.IsTerminal(f) && supervise.IsTerminal(g)
	}
	if compareObjectHandles.Find() != nil { // before Windows 10
		return false
	}
	same, _, _ := compareObjectHandles.Call(uintptr(a), uintptr(b))
	return same != 0
}
