//go:build unix

package main

import (
	"syscall"
	"time"
)

// childrenCPU is the CPU time of all processes that this one has waited for, and of those that they have waited for.
func childrenCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_CHILDREN, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
