package cli

import (
	"io"
	"runtime/debug"

	"github.com/belay-run/belay/internal/term"
)

// sayInternal reports a panic of Belay's own: one clear line, and what a report of it needs. It is called where the panic is recovered.
func sayInternal(w io.Writer, panicked any) {
	term.Printf(w, "belay: internal error: %v; please report it with what follows\n", panicked)
	term.Text(w, string(debug.Stack()))
}
