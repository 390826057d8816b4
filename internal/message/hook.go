package message

import (
	"fmt"
)

// The following say how a hook has failed. Its label stands before them.

// HookNotFound says that a hook has ended as a shell does that could not run a command: with 127 or 126.
func HookNotFound(code int) string {
	if code == 126 {
		return "exited 126: command not executable"
	}
	return fmt.Sprintf("exited %d: command not found", code)
}
