// Command belay makes calls to command-line tools dependable.
package main

import (
	"context"
	"os"
	"runtime/debug"
	_ "time/tzdata" // "resets 3pm (Europe/Berlin)" must mean something in a container without zones

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/belay"
)

func main() {
	debug.SetTraceback("crash") // a failure of the Go runtime ends by SIGABRT: its exit code 2 tells the clients of hooks to block
	ctx := command.OwnProcess(context.Background(), os.Exit)
	os.Exit(belay.Main(ctx, os.Args, os.Stdin, os.Stdout, os.Stderr))
}
