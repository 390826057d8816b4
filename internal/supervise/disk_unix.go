//go:build linux || darwin

package supervise

import (
	"math/bits"

	"golang.org/x/sys/unix"
)

// freeSpace is how many bytes may be written to the disk of a directory.
func freeSpace(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	over, free := bits.Mul64(uint64(s.Bavail), uint64(s.Bsize))
	if over > 0 || free > 1<<62 {
		free = 1 << 62
	}
	return int64(free), nil
}
