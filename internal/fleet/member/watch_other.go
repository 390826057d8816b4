//go:build !linux

package member

import (
	"os"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// changes says that files of directories may have changed.
type changes struct {
	happened chan struct{}
	stop     func()
}

// lookTime is how often directories are looked at, where the system does not tell.
const lookTime = 500 * time.Millisecond

// watchWrites is watch for a directory in which files are also written in their places, which are new then.
func watchWrites(dir string) (*changes, error) { return watch(dir) }

// watch tells of changes in directories. Files there are replaced or removed, which changes the directory.
func watch(dirs ...string) (*changes, error) {
	for _, dir := range dirs {
		if err := safefile.MakeOwnDir(dir); err != nil {
			return nil, err
		}
	}
	c := &changes{happened: make(chan struct{}, 1)}
	end := make(chan struct{})
	c.stop = func() { close(end) }
	go func() {
		last := make([]time.Time, len(dirs))
		for {
			for i, dir := range dirs {
				if info, err := os.Stat(dir); err == nil && !info.ModTime().Equal(last[i]) {
					last[i] = info.ModTime()
					select {
					case c.happened <- struct{}{}:
					default:
					}
				}
			}
			select {
			case <-end:
				return
			case <-time.After(lookTime):
			}
		}
	}()
	return c, nil
}
