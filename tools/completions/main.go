// Command completions writes belay's completions for the shells.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/belay-run/belay/internal/command/belay"
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
	if code := belay.Run(context.Background(), []string{"completion", shell}, nil, f, os.Stderr); code != 0 {
		return fmt.Errorf("belay completion %s: exit code %d", shell, code)
	}
	return f.Close()
}
