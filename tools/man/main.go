// Command man writes belay's man pages.
package main

import (
	"flag"
	"log"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/cli"
	"github.com/belay-run/belay/internal/version"
)

func main() {
	out := flag.String("o", "dist/man", "where they go")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	root := cli.New()
	root.DisableAutoGenTag = true
	nameArguments(root)
	err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "belay " + version.String(), Manual: "Belay"}, *out)
	if err != nil {
		log.Fatal(err)
	}
}

// nameArguments has the pages say what a flag takes, as the help does. They show a default in that place; ours stand in the
// text.
func nameArguments(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() != "bool" {
			f.DefValue = f.Value.Type()
		}
	})
	for _, c := range cmd.Commands() {
		nameArguments(c)
	}
}
