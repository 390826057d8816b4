package term

import (
	"strings"

	"github.com/belay-run/belay/internal/printable"
)

// piece is a part of a line: what is written, and how many columns of the terminal that takes.
type piece struct {
	text    string
	columns int
}

// headings is the first line of the table; several if the columns are folded.
func (g *grid) headings() string {
	var pieces []piece
	for _, i := range g.inLine() {
		title := g.cut(i, g.titles[i])
		pieces = append(pieces, piece{g.look.Palette.Paint(Strong, title), printable.Width(title)})
	}
	return g.join(pieces)
}

// line is a row of the table, in one line or several.
func (g *grid) line(row int) string {
	var pieces []piece
	for _, i := range g.inLine() {
		c := g.columns[i]
		if c.Bars != nil {
			bar := Bar{}
			if row < len(c.Bars) {
				bar = c.Bars[row]
			}
			n, _ := bar.columns(g.widths[i])
			pieces = append(pieces, piece{bar.draw(g.widths[i], g.look), n})
			continue
		}
		cell := g.cut(i, g.rows[row][i])
		pieces = append(pieces, piece{g.look.Palette.Paint(g.styles[row][i], cell), printable.Width(cell)})
	}
	line := g.join(pieces)
	if g.below {
		last := g.shown[len(g.shown)-1]
		if note := g.rows[row][last]; note != "" {
			text := printable.CutEnd(note, g.look.Width-len(indent), g.look.ellipsis())
			line += indent + g.look.Palette.Paint(g.styles[row][last], text) + "\n"
		}
	}
	return line
}

// cut is what fits of a cell into its column.
func (g *grid) cut(i int, cell string) string {
	most := g.widths[i]
	switch {
	case g.look.Width == 0:
		return cell
	case g.folded:
		most = g.look.Width - len(indent)
	}
	switch g.columns[i].Kind {
	case Path:
		return printable.CutMiddle(cell, most, g.look.ellipsis())
	case Phrase, Note:
		return printable.CutEnd(cell, most, g.look.ellipsis())
	}
	return cell
}

// join puts the pieces of the columns that are in a line side by side.
func (g *grid) join(pieces []piece) string {
	var b strings.Builder
	at, blank := 0, 0 // columns that are taken, and spaces that are still to be written
	for n, i := range g.inLine() {
		p := pieces[n]
		pad := g.widths[i] - p.columns
		if g.folded {
			pad = 0
			if p.columns == 0 {
				continue
			}
			if at > 0 && at+blank+p.columns > g.look.Width {
				b.WriteString("\n" + indent)
				at, blank = len(indent), 0
			}
		}
		if g.columns[i].Kind == Number && g.look.Width > 0 {
			blank += pad
			pad = 0
		}
		if p.columns > 0 {
			b.WriteString(strings.Repeat(" ", blank) + p.text)
			at, blank = at+blank+p.columns, 0
		}
		blank += max(0, pad) + len(gap)
	}
	return b.String() + "\n"
}
