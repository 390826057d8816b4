// Command belay makes calls to command-line tools dependable.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // "resets 3pm (Europe/Berlin)" must mean something in a container without zones

	"github.com/belay-run/belay/internal/cli"
)

func main() {
	ctx := cli.OwnProcess(context.Background(), os.Exit)
	os.Exit(cli.Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
