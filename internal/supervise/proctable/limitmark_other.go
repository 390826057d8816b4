//go:build !linux

package proctable

// limitMarkOf is always 0: processes are not marked by a limit here.
func limitMarkOf(string) uint64 { return 0 }

func ownedByLimit(uint64) (ownedID, bool) { return ownedID{}, false }

func (p Proc) limitMark() uint64 { return 0 }

// Vanished is not known here.
func (p Proc) Vanished() bool { return false }

// MarkByLimit does nothing here.
func MarkByLimit(string, bool) (done func(pid int)) { return func(int) {} }

// Unmark does nothing here.
func Unmark(int) {}

// Check has nothing to check: processes are not found in files here.
func Check() error { return nil }
