// Command belayd is the companion of belay, which runs it for what weighs too much for every call.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/companion"
)

func main() {
	debug.SetTraceback("crash") // a failure of the Go runtime ends by SIGABRT: its exit code 2 tells the clients of hooks to block
	belayd.RestoreEnviron()
	os.Exit(companion.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
