// Package marked knows Belay's own files by how they begin, never by their names: a file of that name may be the user's.
package marked

import (
	"bytes"
	"os"

	"github.com/belay-run/belay/internal/safefile"
)

// Is reports whether what is at a path begins with a mark, and is a regular file of this user's that no link leads to. Only then may it be
// replaced or removed.
func Is(path, mark string) bool {
	f, err := safefile.OpenOwnElsewhere(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return Begins(f, mark)
}

// Begins reports whether a file begins with a mark.
func Begins(f *os.File, mark string) bool {
	begin := make([]byte, len(mark))
	n, _ := f.ReadAt(begin, 0)
	return bytes.Equal(begin[:n], []byte(mark))
}

// Remove removes what is at a path, if it is marked.
func Remove(path, mark string) {
	if Is(path, mark) {
		os.Remove(path)
	}
}
