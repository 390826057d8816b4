package supervise_test

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
)

// own makes the test's process the owner of its descendants until the test ends. Such a test must not be parallel, nor
// start anything in another way: an owner takes the exit status of every child.
func own(t testing.TB) *supervise.Supervisor {
	t.Helper()
	s := supervise.Own()
	t.Cleanup(func() {
		eventually(t, "no child is left", func() bool {
			return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil) == unix.ECHILD
		})
		s.Disown()
	})
	return s
}

// lowerFileLimit lowers the number of files that may be open, for the time of the test.
func lowerFileLimit(t testing.TB, n int) int {
	t.Helper()
	var before unix.Rlimit
	must.OK(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	must.OK(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(n), Max: before.Max}))
	t.Cleanup(func() { unix.Setrlimit(unix.RLIMIT_NOFILE, &before) })
	return n
}
