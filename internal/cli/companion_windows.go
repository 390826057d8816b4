package cli

import (
	"os"

	"github.com/belay-run/belay/internal/supervise"
)

// becomeCompanion runs it: Windows cannot replace a process.
func becomeCompanion(path string, argv []string) (int, error) {
	exit, err := supervise.Own().Run(supervise.Spec{Path: path, Args: argv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Placement: supervise.SharedGroup}, nil)
	return exit.ShellCode(), err
}
