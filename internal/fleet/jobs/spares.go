package jobs

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/safefile"
)

// spares are directories of jobs that are used again for later ones. Where a file system does not reuse at once what was removed, as ext4 does not, making a directory
// takes more time than all else that a worker does for a short job.
type spares struct {
	most int // how many there may be

	mu    sync.Mutex
	paths []string
	made  int
}

// sparePrefix begins their names.
const sparePrefix = "spare."

// isSpare reports whether a name is that of a spare, which an earlier process has left.
func isSpare(name string) bool {
	number, ok := strings.CutPrefix(name, sparePrefix)
	_, err := strconv.Atoi(number)
	return ok && err == nil
}

// make makes an empty directory, in place of what is there.
func (s *spares) make(dir string) error {
	s.mu.Lock()
	var spare string
	if last := len(s.paths) - 1; last >= 0 {
		spare, s.paths = s.paths[last], s.paths[:last]
	}
	s.mu.Unlock()
	if spare != "" && os.Rename(spare, dir) == nil {
		return nil
	}
	return makeAnew(dir)
}

// remove removes a directory. If it is empty and as it was made, it may become a spare one.
func (s *spares) remove(dir string) {
	info, err := os.Lstat(dir)
	if err == nil && info.Mode() == os.ModeDir|0o700 {
		if names, err := safefile.ReadOwnDir(dir); err == nil && len(names) == 0 && s.keep(dir) {
			return
		}
	}
	removeAll(dir)
}

// keep makes a directory a spare one, unless there are enough.
func (s *spares) keep(dir string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.paths) >= s.most {
		return false
	}
	s.made++
	spare := filepath.Join(filepath.Dir(dir), sparePrefix+strconv.Itoa(s.made))
	if os.Rename(dir, spare) != nil {
		return false
	}
	s.paths = append(s.paths, spare)
	return true
}

// clear removes all of them.
func (s *spares) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range s.paths {
		os.Remove(path)
	}
	s.paths = nil
}
