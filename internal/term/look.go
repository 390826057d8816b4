package term

import (
	"io"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/stdio"
)

// Look is how a table is drawn.
type Look struct {
	// Width is how many columns the terminal has; 0 means that there is none, and that a line may have any length.
	Width   int
	Palette Palette
	// ASCII draws bars and marks without other characters.
	ASCII bool
}

// LookOf is how tables are drawn on w. What is not a terminal gets them whole and, unless the environment forces it, without colours.
func LookOf(w io.Writer) Look {
	look := Look{Palette: PaletteOf(w)}
	if look.Width = Columns(w); look.Width > 0 {
		look.Width = max(look.Width, minWidth)
		look.ASCII = !UTF8()
	}
	return look
}

// Columns is how many w has; 0 if it is not a terminal.
func Columns(w io.Writer) int {
	if f := stdio.FileOf(w); f != nil {
		return width(f)
	}
	return 0
}

// minWidth is the width of the narrowest terminal that tables are made for: a number with its unit fits.
const minWidth = 20

// ellipsis stands for what was cut off.
func (l Look) ellipsis() string {
	if l.ASCII {
		return ".."
	}
	return "…"
}

// ascii spells the signs that Belay uses itself; text from elsewhere stays as it is otherwise.
var ascii = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("≥", ">=", "–", "-", "…", "..", "×", "x", "│", "|", "├", "|", "└", "`")
})
