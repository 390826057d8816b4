// Command belayd is the companion of belay, which runs it for what weighs too much for every call.
package main

import (
	"os"

	"github.com/belay-run/belay/internal/companion"
)

func main() { os.Exit(companion.Main(os.Args[1:])) }
