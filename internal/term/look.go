package term

import (
	"cmp"
	"io"
	"os"
	"runtime"
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
		look.ASCII = !hasUTF8()
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

// hasUTF8 reports whether the locale has more characters than ASCII. Windows has no locale of this kind, and its consoles know UTF-8.
func hasUTF8() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	locale = strings.ToLower(locale)
	return runtime.GOOS == "windows" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

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
