// Command belayd is the companion of belay, which runs it for what weighs too much for every call.
package main

import (
	"context"
	"os"

	"github.com/belay-run/belay/internal/companion"
)

func main() {
	os.Exit(companion.Run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
