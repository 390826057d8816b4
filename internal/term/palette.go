package term

import (
	"io"
	"os"
	"strings"
	"sync"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/stdio"
)

// Style is how a piece of text looks, by what it means. All of Belay's colours are here.
type Style int

const (
	Plain   Style = iota
	Strong        // a heading, or what was typed
	Faint         // less important than what stands beside it
	Good          // done, healthy
	Warning       // waiting, held, nearly spent
	Bad           // failed, closed
	Accent        // stands out, and is neither good nor bad
	Chosen        // the line that keys act on
)

// sequence is what a terminal is sent for a style; empty for none. The colours are those that its user has chosen, not fixed ones, so that
// they can be read on a light background and on a dark one.
func (s Style) sequence() string {
	code := [...]string{Strong: "1", Faint: "2", Good: "32", Warning: "33", Bad: "31", Accent: "36", Chosen: "7"}[s]
	if code == "" {
		return ""
	}
	return "\x1b[" + code + "m"
}

// Palette paints text in its style. The zero value leaves it plain.
type Palette struct{ on bool }

// PaletteOf is the palette for what is written to w.
func PaletteOf(w io.Writer) Palette {
	return Palette{Colored(os.Getenv("TERM") != "dumb" && stdio.IsTerminal(w) && takesEscapes(stdio.FileOf(w)))}
}

// Colored reports whether the palette has colours.
func (p Palette) Colored() bool { return p.on }

// Paint is one line of text in a style. The text must be printable already.
func (p Palette) Paint(style Style, text string) string {
	if p.on {
		return style.Paint(text)
	}
	return text
}

// Paint is one line of text in a style, for a terminal that has colours. The text must be printable already.
func (s Style) Paint(text string) string {
	if sequence := s.sequence(); text != "" && sequence != "" {
		return sequence + text + "\x1b[0m"
	}
	return text
}

// Text prints a text of several lines in a style.
func (p Palette) Text(w io.Writer, style Style, text string) error {
	lines := strings.Split(printable.Text(text), "\n")
	for i, line := range lines {
		lines[i] = p.Paint(style, line)
	}
	_, err := io.WriteString(w, strings.Join(lines, "\n"))
	return err
}

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
