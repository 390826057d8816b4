//go:build unix

package printable

import (
	"os/exec"
	"testing"
)

// A word of the command that is printed is read back by a shell, also one that printf would take for an option.
func TestQuoted(t *testing.T) {
	for _, shell := range []string{"sh", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		for _, word := range []string{"-\x01", "-n\x02", "--\x7fx", "-v\tx", "a\x01", "-", "-\xff", "%s\x01", "\\\x01'"} {
			out, err := exec.Command(shell, "-c", "printf %s. "+Quoted(word)).Output()
			if err != nil || string(out) != word+"." {
				t.Errorf("%s: %q is printed as %s, and read as %q, %v", shell, word, Quoted(word), out, err)
			}
		}
	}
}
