//go:build !linux

package proctable

// bootID is not known here; the owner's start time has to do.
func bootID() string { return unknownBoot }

// samePIDSpace is true: there are no others here.
func samePIDSpace(Proc) bool { return true }
