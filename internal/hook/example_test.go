//go:build unix

package hook_test

import (
	"fmt"
	"os"

	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
)

// A hook that crashes is put on record and does not block; one that decides to block does.
func ExampleHook_Run() {
	record := func(e journal.Entry) error {
		fmt.Println("on record:", e.Profile, e.ErrorType)
		return nil
	}
	crashes := hook.Hook{Name: "fmt", Args: []string{"sh", "-c", "kill -SEGV $$"}, Stdout: os.Stdout, Stderr: os.Stdout, Record: record}
	fmt.Println("exit code", crashes.Run())
	blocks := hook.Hook{Name: "guard", Args: []string{"sh", "-c", "echo not there >&2; exit 2"}, Stdout: os.Stdout, Stderr: os.Stdout, Record: record}
	fmt.Println("exit code", blocks.Run())
	// Output:
	// on record: hook:fmt crash
	// belay hook: fmt was killed by SIGSEGV; continuing without it
	// exit code 0
	// not there
	// exit code 2
}
