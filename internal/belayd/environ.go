package belayd

import (
	"os"
	"slices"
	"strings"
)

// traceback has a failure of the Go runtime end the process by SIGABRT, and aborting says that belay has set it. belayd cannot do so itself in
// time: packages that it links open files before its main begins, and where there are none left, the runtime fails. Its exit code 2 would say that
// the command line was wrong.
const traceback, aborting = "GOTRACEBACK", "BELAY_ABORTING"

// Environ is the environment that belay gives to belayd.
func Environ(env []string) []string {
	if slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, traceback+"=") }) {
		return env
	}
	return append(slices.Clip(env), traceback+"=crash", aborting+"=1")
}

// RestoreEnviron makes the environment again what belay was given: what belayd starts gets that one.
func RestoreEnviron() {
	if os.Getenv(aborting) != "" {
		os.Unsetenv(traceback)
		os.Unsetenv(aborting)
	}
}
