package term

import (
	"io"
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// isColor reports whether a style is a colour. What is strong, faint or chosen stands out where there are none, too.
func (s Style) isColor() bool { return s != Strong && s != Faint && s != Chosen }

// Piece is a part of a row in one style.
type Piece struct {
	Text  string
	Style Style
}

// Row is one line of a screen.
type Row []Piece

// String is the row without its styles.
func (r Row) String() string {
	var b strings.Builder
	for _, p := range r {
		b.WriteString(printable.Line(p.Text))
	}
	return b.String()
}

// styled is the row with its styles, as a terminal shows it.
func (r Row) styled(color bool) string {
	var b strings.Builder
	for _, p := range r {
		text := printable.Line(p.Text)
		if seq := p.Style.sequence(); seq != "" && text != "" && (color || !p.Style.isColor()) {
			text = seq + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	return b.String()
}

// Rows prints rows as lines. Spaces at the end of a line are left out.
func Rows(w io.Writer, rows []Row) error {
	color := PaletteOf(w).Colored()
	var b strings.Builder
	for _, row := range rows {
		text := row.String()
		if color {
			text = row.styled(true)
		}
		b.WriteString(strings.TrimRight(text, " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Columns is how many columns the terminal has that w is; 0 if it is none.
func Columns(w io.Writer) int { return columns(w) }
