package clientfile

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff shows what has changed as a unified diff; empty if nothing has.
func Diff(name string, before, after []byte) string {
	_, text, _ := bytes.Cut(diff.Diff(name, before, name, after), []byte("\n")) // without the command that would have made it
	return string(text)
}
