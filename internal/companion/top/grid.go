package top

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// column is one of a table.
type column struct {
	heading string
	right   bool // numbers
	most    int  // columns of the screen that it may take, or a quarter of them if that is less; 0 for any
	// drop says when it is left out where there is no room: those with the highest number first, and 0 never.
	drop int
}

// line is a row of a table.
type line struct {
	cells []string
	style term.Style
}

// gap stands between columns.
const gap = "  "

// table lays out lines below headings. The last column, which is a text, takes what is left, and least of
// it before others are left out; columns is the width of the screen, 0 for no end. A column
// with nothing in it is left out.
func table(columns, least int, head []column, lines []line) (heading string, rows []string) {
	widths := make([]int, len(head))
	for i, c := range head {
		for _, l := range lines {
			n := width(printable.Line(l.cells[i]))
			if c.most > 0 && columns > 0 {
				n = min(n, c.most, max(columns/4, 8))
			}
			widths[i] = max(widths[i], n)
		}
		if widths[i] > 0 || len(lines) == 0 && c.drop == 0 {
			widths[i] = max(widths[i], width(c.heading))
		}
	}
	last := len(head) - 1
	room := columns
	for columns > 0 {
		room = columns - width(marker)
		for _, n := range widths[:last] {
			if n > 0 {
				room -= n + len(gap)
			}
		}
		worst := -1
		for i, c := range head[:last] {
			if widths[i] > 0 && c.drop > 0 && (worst < 0 || c.drop > head[worst].drop) {
				worst = i
			}
		}
		if worst < 0 || room >= min(least, widths[last]) {
			break
		}
		widths[worst] = 0
	}
	set := func(mark string, cells []string, style term.Style) string {
		text := mark
		for i, cell := range cells[:last] {
			if widths[i] > 0 {
				text += pad(cut(printable.Line(cell), widths[i]), widths[i], head[i].right) + gap
			}
		}
		if columns == 0 || room > 0 {
			text += cut(printable.Line(cells[last]), max(room, 0))
		}
		return paint(text, style)
	}
	names := make([]string, len(head))
	for i, c := range head {
		names[i] = c.heading
	}
	heading = set(noMarker, names, term.Faint)
	for _, l := range lines {
		rows = append(rows, set(noMarker, l.cells, l.style))
	}
	return heading, rows
}

// What stands before a row: the one that is chosen has a marker, which shows without colours too.
const (
	marker   = "› "
	noMarker = "  "
)

// choose shows a row as the one that is chosen.
func choose(row string, columns int) string {
	text := ansi.Strip(row)
	if len(text) >= len(noMarker) {
		text = marker + text[len(noMarker):]
	}
	return paint(pad(text, columns, false), term.Chosen)
}
