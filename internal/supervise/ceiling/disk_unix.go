//go:build linux || darwin

package ceiling

import "golang.org/x/sys/unix"

// freeSpace is how many bytes may be written to the disk of a directory.
func freeSpace(path string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, err
	}
	if s.Blocks == 0 { // it does not tell: /proc, and many in user space
		return 1 << 62, nil
	}
	return int64(min(float64(s.Bavail)*float64(s.Bsize), 1<<62)), nil
}
