package top

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// width is how many columns a text takes.
func width(text string) int { return utf8.RuneCountInString(text) }

// cut is what fits of a text into that many columns; 0 or less means all.
func cut(text string, columns int) string {
	if columns <= 0 || width(text) <= columns {
		return text
	}
	return string([]rune(text)[:columns-1]) + "…"
}

// pad fills a text up with spaces.
func pad(text string, columns int, right bool) string {
	space := strings.Repeat(" ", max(0, columns-width(text)))
	if right {
		return space + text
	}
	return text + space
}

// cutRow is what fits of a row into that many columns; 0 means all.
func cutRow(row term.Row, columns int) term.Row {
	if columns <= 0 || width(row.String()) <= columns {
		return row
	}
	var kept term.Row
	for _, p := range row {
		n := width(p.Text)
		if n > columns {
			if columns > 0 {
				kept = append(kept, term.Piece{Text: cut(p.Text, columns), Style: p.Style})
			}
			return kept
		}
		kept, columns = append(kept, p), columns-n
	}
	return kept
}

// flow sets parts one behind the other, in as many lines as it takes.
func flow(parts []term.Piece, between string, columns int) (rows []term.Row) {
	var row term.Row
	used := 0
	for _, p := range parts {
		n := width(p.Text)
		if used > 0 && columns > 0 && used+width(between)+n > columns {
			rows, row, used = append(rows, row), nil, 0
		}
		if used > 0 {
			row = append(row, term.Piece{Text: between, Style: term.Faint})
			used += width(between)
		}
		row, used = append(row, p), used+n
	}
	if used > 0 {
		rows = append(rows, row)
	}
	return rows
}

// wrap breaks a text into lines at spaces, each after an indent.
func wrap(text, indent string, columns int) (lines []string) {
	if columns <= width(indent)+10 {
		return []string{cut(indent+text, columns)}
	}
	line := ""
	for _, word := range strings.Fields(text) {
		for line != "" && width(indent+line)+1+width(word) > columns {
			lines, line = append(lines, indent+line), ""
		}
		if line != "" {
			line += " "
		}
		for line += word; width(indent+line) > columns; { // a word that is longer than a line
			runes := []rune(line)
			n := columns - width(indent)
			lines, line = append(lines, indent+string(runes[:n])), string(runes[n:])
		}
	}
	if line != "" {
		lines = append(lines, indent+line)
	}
	return lines
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
	t = t.In(now.Location())
	switch y, m, d := t.Date(); {
	case y == now.Year() && m == now.Month() && d == now.Day():
		return t.Format(time.TimeOnly)
	case y == now.Year():
		return t.Format("Jan 2 15:04")
	}
	return t.Format("2006-01-02 15:04")
}
