// Command belay makes calls to command-line tools dependable.
package main

import (
	"os"
	_ "time/tzdata" // "resets 3pm (Europe/Berlin)" must mean something in a container without zones

	"github.com/belay-run/belay/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
