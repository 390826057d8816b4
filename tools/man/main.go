// Command man writes belay's man pages.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/belay-run/belay/internal/cli"
)

func main() {
	out := flag.String("o", "dist/man", "where they go")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	root := cli.New()
	root.DisableAutoGenTag = true
	err := doc.GenManTree(root, &doc.GenManHeader{Title: "BELAY", Section: "1", Source: "belay " + cli.Version, Manual: "Belay"}, *out)
	if err != nil {
		log.Fatal(err)
	}
}
