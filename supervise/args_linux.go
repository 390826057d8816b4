package supervise

import (
	"fmt"

	"golang.org/x/sys/unix"
)

const (
	// maxString is the kernel's limit for one argument or one environment variable, its final NUL included
	// (MAX_ARG_STRLEN, 32 pages).
	maxString = 131072
	// maxStack caps the limit for all of them together, a quarter of the stack (three quarters of 8 MiB).
	maxStack = 6 << 20
)

// CheckArgs reports, before anything is started, what the system would refuse as too long.
func CheckArgs(args, env []string) error {
	total := 0
	for i, a := range args {
		if len(a) >= maxString {
			return fmt.Errorf("argument %d has %d bytes; Linux takes at most %d in one argument", i, len(a), maxString-1)
		}
		total += len(a) + 9 // its NUL and a pointer to it
	}
	for _, kv := range env {
		if len(kv) >= maxString {
			return fmt.Errorf("environment variable %.32q has %d bytes; Linux takes at most %d", kv, len(kv), maxString-1)
		}
		total += len(kv) + 9
	}
	const surelyFine = 128 << 10
	if total < surelyFine {
		return nil
	}
	limit := 2 << 20
	var stack unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &stack) == nil {
		limit = int(min(max(stack.Cur/4, surelyFine), maxStack))
	}
	if total > limit-4096 { // the kernel keeps a page for the path and itself
		return fmt.Errorf("arguments and environment have %d bytes in all; this system takes at most %d", total, limit)
	}
	return nil
}
