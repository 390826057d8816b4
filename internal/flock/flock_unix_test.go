//go:build unix

package flock

import (
	"errors"
	"syscall"
	"testing"
)

// A file system without locks is told apart from one whose locks fail, and the cause can be read.
func TestExplain(t *testing.T) {
	for err, unsupported := range map[syscall.Errno]bool{
		syscall.ENOLCK: true, syscall.ENOSYS: true, syscall.EINVAL: true, syscall.EOPNOTSUPP: true,
		syscall.EIO: false, syscall.EBADF: false, syscall.EWOULDBLOCK: false,
	} {
		got := explain(err)
		if errors.Is(got, errors.ErrUnsupported) != unsupported || !errors.Is(got, err) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if err := explain(nil); err != nil {
		t.Error(err)
	}
}
