package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/message"
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

// width is how many columns a text takes.
func width(text string) int { return ansi.StringWidth(text) }

// paint is a text in a style, without what could control the terminal.
func paint(text string, style term.Style) string { return style.Paint(printable.Line(text)) }

// cut is what fits of a text into that many columns; 0 or less means all.
func cut(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	return ansi.Truncate(text, columns, "…")
}

// pad fills a text up with spaces.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(0, columns-width(text)))
	if right {
		return space + text
	}
	return text + space
}

// flow sets parts one behind the other, in as many lines as it takes.
func flow(parts []string, columns int) (rows []string) {
	between := paint(" · ", term.Faint)
	row := ""
	for _, p := range parts {
		switch {
		case row == "":
			row = p
		case columns > 0 && width(row)+width(between)+width(p) > columns:
			rows, row = append(rows, row), p
		default:
			row += between + p
		}
	}
	return append(rows, row)
}

// wrap breaks a text into lines at spaces. Where there is no room for that, there is one line, which is cut later.
func wrap(text string, columns int) []string {
	text = printable.Line(text)
	switch {
	case text == "":
		return nil
	case columns <= 10:
		return []string{text}
	}
	return strings.Split(ansi.Wrap(text, columns, " "), "\n")
}

// short shows a number of tokens in at most five characters: 950, 12.3k, 1.2M.
func short(n int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "G"}, {1_000_000, "M"}, {1_000, "k"}} {
		switch f := float64(n) / float64(unit.size); {
		case f >= 99.95:
			return fmt.Sprintf("%.0f%s", f, unit.name)
		case f >= 1:
			return fmt.Sprintf("%.1f%s", f, unit.name)
		}
	}
	return fmt.Sprint(n)
}

// dollars shows an amount of money.
func dollars(usd float64) string {
	if usd > 0 && usd < 0.01 || usd > 1e6 || usd < 0 || usd != usd {
		return printable.Dollars(usd)
	}
	return fmt.Sprintf("$%.2f", usd)
}

// clock shows a time of the day of now, and the day too if it is another one.
func clock(t, now time.Time) string {
	if t.In(now.Location()).Year() != now.Year() {
		return t.In(now.Location()).Format("2006-01-02 15:04")
	}
	return message.Clock(t, now, time.TimeOnly, "Jan 2 15:04")
}
