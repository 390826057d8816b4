package term

import (
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// least is how much of the last column must fit beside the others; below that it has a line of its own.
const least = 20

// gap stands between columns.
const gap = "  "

// Table writes rows under headings. A column with nothing in it is left out. On a terminal no line is longer than that is
// wide: of the last column, which is mostly a text, there is what fits, and where next to nothing would, it stands on a line of
// its own. What is written to a file or a pipe is whole.
func Table(w io.Writer, headings []string, rows [][]string) error {
	most := 0
	if f, ok := w.(*os.File); ok {
		most = width(f)
	}
	_, err := io.WriteString(w, layout(headings, rows, most))
	return err
}

// layout is the table for a terminal of that many columns; 0 means that there is no end to a line.
func layout(headings []string, rows [][]string, most int) string {
	headings, rows = dropEmpty(headings, rows)
	last := len(headings) - 1
	widths := make([]int, len(headings))
	for _, row := range append([][]string{headings}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	before := 0 // columns before the last one
	for _, n := range widths[:last] {
		before += n + len(gap)
	}
	room := most - before
	if most == 0 || widths[last] <= room {
		room = widths[last]
	}
	var b strings.Builder
	for i, row := range append([][]string{headings}, rows...) {
		line := ""
		for j, cell := range row[:last] {
			line += cell + strings.Repeat(" ", widths[j]-utf8.RuneCountInString(cell)) + gap
		}
		switch own := row[last]; {
		case room >= min(least, widths[last]):
			line += cut(own, room)
		case own != "" && i > 0 && headings[last] != "": // a picture is not worth a line
			line = cut(strings.TrimRight(line, " "), most) + "\n" + cut("    "+own, most)
		}
		for part := range strings.SplitSeq(line, "\n") {
			b.WriteString(cut(strings.TrimRight(part, " "), most) + "\n")
		}
	}
	return b.String()
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
