// Package cpu reads the CPU time of this process: on a machine that others use too, it says more than the clock.
package cpu

import (
	"syscall"
	"time"
)

// Time is the CPU time used so far.
func Time() time.Duration {
	var ru syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &ru); err != nil {
		panic(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}
