//go:build unix

package executable

import (
	"bytes"
	"io"

	"github.com/belay-run/belay/internal/safefile"
)

// Shell is the command that runs a line of the user's in a shell.
func Shell(line string) []string { return []string{"sh", "-c", line} }

// IsShellScript reports whether an executable file that the kernel cannot execute is a script without a first line that
// names its interpreter. Shells, and execvp(3), run such a file with sh.
func IsShellScript(path string) bool {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 512)
	n, _ := io.ReadFull(f, start)
	line, _, _ := bytes.Cut(start[:n], []byte("\n"))
	return !bytes.ContainsAny(line, "\x00\x7f")
}
