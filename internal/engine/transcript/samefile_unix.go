//go:build unix

package transcript

import "os"

// sameOpenFile reports whether two files are one.
func sameOpenFile(f, g *os.File) bool {
	fi, err := f.Stat()
	gi, err2 := g.Stat()
	return err == nil && err2 == nil && os.SameFile(fi, gi)
}
