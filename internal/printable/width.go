package printable

import (
	"sort"
	"strings"
	"unicode"
)

// Width is how many columns of a terminal a line takes: two for a wide character such as 漢 or 🙂, none for a mark that stands on the
// character before it. Terminals differ on emoji that are made of several; Width is then the larger figure.
func Width(line string) (columns int) {
	for _, r := range line {
		columns += runeWidth(r)
	}
	return columns
}

// CutEnd is what fits of a line into that many columns. If that is not all of it, it ends in mark.
func CutEnd(line string, columns int, mark string) string {
	if Width(line) <= columns {
		return line
	}
	return head(line, columns-Width(mark)) + head(mark, columns)
}

// CutMiddle is what fits of a line into that many columns. If that is not all of it, mark stands for what is left out of its middle: paths
// and ids differ at their ends.
func CutMiddle(line string, columns int, mark string) string {
	if Width(line) <= columns {
		return line
	}
	room := columns - Width(mark)
	if room < 2 {
		return CutEnd(line, columns, mark)
	}
	front := head(line, room/2)
	return front + mark + tail(line, room-Width(front))
}

// head is what fits of the beginning of a line. A character keeps the marks that stand on it.
func head(line string, columns int) string {
	for i, r := range line {
		if columns -= runeWidth(r); columns < 0 {
			return line[:i]
		}
	}
	return line
}

// tail is what fits of the end of a line.
func tail(line string, columns int) string {
	begin, all := len(line), Width(line)
	for i, r := range line {
		if all <= columns && runeWidth(r) > 0 {
			begin = i
			break
		}
		all -= runeWidth(r)
	}
	return strings.TrimLeft(line[begin:], " ")
}

// runeWidth is how many columns a character takes.
func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case r < ' ', r == 0x7f:
		return 0
	case r == 0xfe0f: // asks for the colourful form of a symbol, which some terminals draw in two columns
		return 1
	case r < 0x300:
		return 1
	case r >= 0x1160 && r <= 0x11ff: // the vowels and ends of a Hangul syllable
		return 0
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	if i := sort.Search(len(wide), func(i int) bool { return wide[i][1] >= r }); i < len(wide) && wide[i][0] <= r {
		return 2
	}
	return 1
}

// wide are the characters of two columns: W and F in Unicode's EastAsianWidth.txt.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23ec}, {0x23f0, 0x23f0}, {0x23f3, 0x23f3}, {0x25fd, 0x25fe}, {0x2614, 0x2615},
	{0x2630, 0x2637}, {0x2648, 0x2653}, {0x267f, 0x267f}, {0x268a, 0x268f}, {0x2693, 0x2693}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab}, {0x26bd, 0x26be},
	{0x26c4, 0x26c5}, {0x26ce, 0x26ce}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f3}, {0x26f5, 0x26f5}, {0x26fa, 0x26fa}, {0x26fd, 0x26fd},
	{0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728}, {0x274c, 0x274c}, {0x274e, 0x274e}, {0x2753, 0x2755}, {0x2757, 0x2757}, {0x2795, 0x2797},
	{0x27b0, 0x27b0}, {0x27bf, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b50}, {0x2b55, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97f},
	{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19}, {0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x18dff}, {0x1aff0, 0x1b2ff},
	{0x1d300, 0x1d376}, {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a}, {0x1f200, 0x1f265}, {0x1f300, 0x1f320},
	{0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393}, {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
	{0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d}, {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a},
	{0x1f595, 0x1f596}, {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc}, {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6d7},
	{0x1f6dc, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f7f0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945},
	{0x1f947, 0x1f9ff}, {0x1fa70, 0x1faff}, {0x20000, 0x2fffd}, {0x30000, 0x3fffd},
}
