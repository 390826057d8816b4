package term

import (
	"math"
	"strings"
)

// Bar shows a number beside others, in columns that a terminal has to spare.
type Bar struct {
	Length float64 // 1 for the longest
	Full   float64 // the part of that length, from 0 to 1, that is full
	// Style is the style of the full part, Rest the style of the other one.
	Style, Rest Style
}

const (
	minBar = 8 // columns; a shorter one says nothing
	maxBar = 24
)

// columns is how many the bar takes of that many, and how many of them are full. What is not 0 shows, and what is nearly full does not
// look full.
func (b Bar) columns(most int) (length, full int) {
	if !(b.Length > 0) || most < 1 {
		return 0, 0
	}
	length = max(1, part(b.Length, most))
	full = part(b.Full, length)
	switch {
	case b.Full < 1 && full == length:
		full--
	case b.Full > 0 && full == 0 && length > 1:
		full = 1
	}
	return length, full
}

// part is a share, from 0 to 1, of that many columns.
func part(share float64, of int) int {
	if !(share > 0) {
		return 0
	}
	return int(math.Round(min(share, 1) * float64(of)))
}

// draw is the bar in at most that many columns.
func (b Bar) draw(most int, look Look) string {
	full, rest := "█", "░"
	if look.ASCII {
		full, rest = "#", "-"
	}
	length, n := b.columns(most)
	return look.Palette.Paint(b.Style, strings.Repeat(full, n)) + look.Palette.Paint(b.Rest, strings.Repeat(rest, length-n))
}
