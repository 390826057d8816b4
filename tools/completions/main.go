// Command completions writes belay's completions for the shells.
package main

import (
	"flag"
	"log"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/cli"
)

func main() {
	out := flag.String("o", "dist/completions", "where they go")
	flag.Parse()
	if err := os.MkdirAll(*out, 0o755); err != nil {
		log.Fatal(err)
	}
	for shell, name := range map[string]string{"bash": "belay.bash", "zsh": "_belay", "fish": "belay.fish", "powershell": "belay.ps1"} {
		if err := write(shell, filepath.Join(*out, name)); err != nil {
			log.Fatal(err)
		}
	}
}

// write has belay itself print them.
func write(shell, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	root := cli.New()
	root.SetArgs([]string{"completion", shell})
	root.SetOut(f)
	if err := root.Execute(); err != nil {
		return err
	}
	return f.Close()
}
