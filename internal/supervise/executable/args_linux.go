package executable

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// CheckArgs reports, before anything is started, what the system would surely refuse as too long. What is near the
// limit it lets pass: there the system itself decides.
func CheckArgs(args, env []string) error {
	// The kernel's limit for one string, its final NUL included (MAX_ARG_STRLEN).
	maxString := 32 * os.Getpagesize()
	const pointer = strconv.IntSize / 8
	total := 0
	for i, a := range args {
		if len(a) >= maxString {
			return fmt.Errorf("argument %d has %d bytes; Linux takes at most %d in one argument", i, len(a), maxString-1)
		}
		total += len(a) + 1 + pointer
	}
	for _, kv := range env {
		if len(kv) >= maxString {
			return fmt.Errorf("environment variable %.32q has %d bytes; Linux takes at most %d", kv, len(kv), maxString-1)
		}
		total += len(kv) + 1 + pointer
	}
	const least, most = 128 << 10, 6 << 20 // ARG_MAX, and three quarters of 8 MiB
	if total < least {
		return nil
	}
	var stack unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_STACK, &stack) != nil {
		return nil
	}
	if limit := int(min(max(stack.Cur/4, least), most)); total > limit {
		return fmt.Errorf("arguments and environment have %d bytes in all; this system takes at most %d", total, limit)
	}
	return nil
}
