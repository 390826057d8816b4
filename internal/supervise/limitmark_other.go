//go:build !linux

package supervise

// limitMarkOf is always 0: processes are not marked by a limit here.
func limitMarkOf(string) uint64 { return 0 }

func ownedByLimit(uint64) (ownedID, bool) { return ownedID{}, false }

func (p Proc) limitMark() uint64 { return 0 }

func (p Proc) vanished() bool { return false }

func (p *Process) markByLimit() (done func(pid int)) { return func(int) {} }

func unmark(int) {}

// checkProc has nothing to check: processes are not found in files here.
func checkProc() error { return nil }
