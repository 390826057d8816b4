package term

import (
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
)

// minLastWidth is how much of the last column must fit beside the others; below that it has a line of its own.
const minLastWidth = 20

// gap stands between columns.
const gap = "  "

// Table writes rows under headings. What is in them may be anyone's, and is shown in one line. A column with nothing in it is left out. On a terminal no line is longer than that is
// wide: of the last column, which is mostly a text, there is what fits, and where next to nothing would, it stands on a line of
// its own. What is written to a file or a pipe is whole.
func Table(w io.Writer, headings []string, rows [][]string) error {
	_, err := io.WriteString(w, layout(headings, rows, columns(w)))
	return err
}

// Following is a table whose rows are written as they come. All columns are there: what is in them later is not known.
type Following struct {
	headings []string
	first    [][]string
}

// Write writes rows, the first time under headings, and then in the columns of the first ones.
func (t *Following) Write(w io.Writer, headings []string, rows [][]string) error {
	text := ""
	rows = cleaned(rows)
	if t.headings == nil {
		t.headings, t.first = headings, rows
		text = newGrid(headings, rows, columns(w)).line(headings)
	}
	for _, row := range rows {
		text += newGrid(t.headings, append(slices.Clone(t.first), row), columns(w)).line(row)
	}
	_, err := io.WriteString(w, text)
	return err
}

// columns is how many w has; 0 if it is no terminal.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		return width(f)
	}
	return 0
}

// layout is the table for a terminal of that many columns; 0 means that there is no end to a line.
func layout(headings []string, rows [][]string, most int) string {
	headings, rows = dropEmpty(headings, cleaned(rows))
	g := newGrid(headings, rows, most)
	var b strings.Builder
	b.WriteString(g.line(headings))
	for _, row := range rows {
		b.WriteString(g.line(row))
	}
	return b.String()
}

// grid is where the columns stand.
type grid struct {
	headings []string
	widths   []int
	most     int // columns of the terminal; 0 for no end
	room     int // for the last one
}

func newGrid(headings []string, rows [][]string, most int) grid {
	g := grid{headings: headings, widths: make([]int, len(headings)), most: most}
	for _, row := range append([][]string{headings}, rows...) {
		for i, cell := range row {
			g.widths[i] = max(g.widths[i], utf8.RuneCountInString(cell))
		}
	}
	last := len(headings) - 1
	g.room = most
	for _, n := range g.widths[:last] {
		g.room -= n + len(gap)
	}
	if most == 0 || g.widths[last] <= g.room {
		g.room = g.widths[last]
	}
	return g
}

// line is a row, in one line or two.
func (g grid) line(row []string) string {
	last := len(row) - 1
	line := ""
	for j, cell := range row[:last] {
		line += cell + strings.Repeat(" ", g.widths[j]-utf8.RuneCountInString(cell)) + gap
	}
	switch own := row[last]; {
	case g.room >= min(minLastWidth, g.widths[last]):
		line += cut(own, g.room)
	case own != "" && own != g.headings[last] && g.headings[last] != "": // bars get no line of their own
		return cut(strings.TrimRight(line, " "), g.most) + "\n" + cut("    "+own, g.most) + "\n"
	}
	return cut(strings.TrimRight(line, " "), g.most) + "\n"
}

// cleaned are the rows with each cell in one line that cannot control the terminal.
func cleaned(rows [][]string) [][]string {
	clean := make([][]string, len(rows))
	for i, row := range rows {
		clean[i] = make([]string, len(row))
		for j, cell := range row {
			clean[i][j] = printable.Line(cell)
		}
	}
	return clean
}

// dropEmpty leaves out the columns that have nothing but a heading.
func dropEmpty(headings []string, rows [][]string) (kept []string, cells [][]string) {
	cells = make([][]string, len(rows))
	for j, heading := range headings {
		used := len(rows) == 0 || j == 0
		for _, row := range rows {
			used = used || row[j] != ""
		}
		if !used {
			continue
		}
		kept = append(kept, heading)
		for i, row := range rows {
			cells[i] = append(cells[i], row[j])
		}
	}
	return kept, cells
}

// cut is what fits of a text; 0 means all.
func cut(text string, most int) string {
	if most <= 0 || utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}
