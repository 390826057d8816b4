package batch

import (
	"bytes"
	"os"

	"github.com/belay-run/belay/internal/safefile"
)

// What Belay keeps beside the results is known by how it begins, never by its name: a file of that name may be the user's.
const (
	// journalMark is how a journal begins, of this version and of all before it.
	journalMark = `{"holder":{"pid":`
	// spoolMark is how a copy of tasks begins; those of earlier versions had nothing of the kind, and are read but not removed.
	spoolMark = `{"belay":"spooled-tasks"}` + "\n"
)

// isMarked reports whether what is at a path begins with a mark, and is a regular file of this user's that no link leads to. Only then may it be
// replaced or removed.
func isMarked(path, mark string) bool {
	f, err := safefile.OpenOwnElsewhere(path, os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	return beginsWith(f, mark)
}

// beginsWith reports whether a file begins with a mark.
func beginsWith(f *os.File, mark string) bool {
	begin := make([]byte, len(mark))
	n, _ := f.ReadAt(begin, 0)
	return bytes.Equal(begin[:n], []byte(mark))
}

// removeMarked removes what is at a path, if it is marked.
func removeMarked(path, mark string) {
	if isMarked(path, mark) {
		os.Remove(path)
	}
}
