// Command belay makes calls to command-line tools dependable.
package main

import (
	"os"

	"github.com/belay-run/belay/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
