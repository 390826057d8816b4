package term

import (
	"io"
	"runtime/debug"
)

// Panicked reports a panic of Belay's own: one clear line, and what a report of it needs. It is called where the panic is recovered.
func Panicked(w io.Writer, value any) {
	Printf(w, "belay: internal error: %v; please report it with what follows\n", value)
	Text(w, string(debug.Stack()))
}
