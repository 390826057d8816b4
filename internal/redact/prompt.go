package redact

import (
	"bytes"
	"strings"
)

const (
	// gram is how many characters in a row, spaces aside, a text and a prompt have in common at least where the one quotes the
	// other.
	gram = 12
	// minQuote is how long a quote is that is taken out wherever it comes from in the prompt, minWords how many words it has, and
	// longQuote is how long one is with fewer.
	minQuote, minWords, longQuote = 16, 3, 48
	// minWhole is how long a prompt is that is taken out as a whole, and minLine a line of one. maxLines is how many are looked for.
	minWhole, minLine, maxLines = 4, 8, 2000
	// minStart is how much is quoted of a prompt's beginning that ends in dots.
	minStart = 8
)

// flatText is a text in which what is known is marked. It is compared without spaces and escapes.
type flatText struct {
	view
	s    string
	hide []bool // of each byte of the view
}

func (t *flatText) mark(from, to int) {
	for i := from; i < to; i++ {
		t.hide[i] = true
	}
}

// markQuote marks what the text quotes of a prompt: all of it, its lines, its beginning, or any longer piece, however it is escaped
// or broken into lines. lines says that a line of it is marked even if it is a single word.
//
// The characters of each window of the text are hashed, and the prompt, which may be long, is gone through once.
func (t *flatText) markQuote(q quote, lines bool) {
	t.markValues(q.values)
	if len(t.text) == 0 || len(q.flat) == 0 {
		return
	}
	t.markQuotes(q.flat)
	for _, text := range inBase64(q.text) {
		t.markEncoded(text)
	}
	if !lines {
		return
	}
	n := 0
	for line := range strings.Lines(q.text) {
		if line = strings.TrimSpace(line); len(line) >= minLine && len(line) < 2*longQuote { // a longer one is a quote
			t.markEach(string(flat(line, true).text), true)
			if n++; n == maxLines {
				break
			}
		}
	}
	if len(q.text) < 2*longQuote && len(q.flat) >= minWhole {
		t.markEach(string(q.flat), true)
	}
	t.markCut(string(q.flat[:min(len(q.flat), maxStart)]), false)
}

const base = 1_000_003

// markQuotes marks the pieces of the text that are in the prompt too, where they are long enough to be a quote: windows in a row, each
// of which the prompt has.
func (t *flatText) markQuotes(asked []byte) {
	if len(t.text) < gram || len(asked) < gram {
		return
	}
	quoted := make(map[uint64]bool, len(t.text)) // whether the prompt has a window
	const bits = 16
	var some [1 << bits / 64]uint64 // a bit for the hashes in it: most of a prompt's are not, and are told so at once
	rolling(t.text, func(_ int, hash uint64) {
		quoted[hash] = false
		bit := hash >> (64 - bits)
		some[bit/64] |= 1 << (bit % 64)
	})
	rolling(asked, func(_ int, hash uint64) {
		if bit := hash >> (64 - bits); some[bit/64]&(1<<(bit%64)) != 0 {
			if _, ok := quoted[hash]; ok {
				quoted[hash] = true
			}
		}
	})
	row := 0
	endRow := func(to int) {
		if from := to - gram - row + 1; row > 0 && t.isQuote(from, to-from) {
			t.mark(from, to)
		}
		row = 0
	}
	rolling(t.text, func(at int, hash uint64) {
		if quoted[hash] {
			row++
		} else {
			endRow(at + gram - 1)
		}
	})
	endRow(len(t.text))
}

// rolling calls visit with the hash of each window of a text.
func rolling(b []byte, visit func(at int, hash uint64)) {
	var hash uint64
	power := uint64(1)
	for range gram - 1 {
		power *= base
	}
	for i := range b {
		if i >= gram {
			hash -= uint64(b[i-gram]) * power
		}
		hash = hash*base + uint64(b[i])
		if i >= gram-1 {
			visit(i-gram+1, hash)
		}
	}
}

// isQuote reports whether a piece is long enough, or has enough words, to be a quote and no coincidence.
func (t *flatText) isQuote(from, n int) bool {
	if n >= longQuote {
		return true
	}
	words, wide := 1, 0
	for i := from; i < from+n; i++ {
		if t.gap[i] && i > from {
			words++
		}
		if t.text[i] >= 0xc0 {
			wide++
		}
	}
	return n >= minQuote && words >= minWords || wide >= gram/2 // scripts without spaces
}

// markEach marks where the text has a value, a prompt or a line: everywhere, or where it stands as words of their own.
func (t *flatText) markEach(flat string, words bool) {
	for at := 0; len(flat) > 0; {
		n := bytes.Index(t.text[at:], []byte(flat))
		if n < 0 {
			return
		}
		n += at
		end := n + len(flat)
		at = n + 1
		if words && (!t.gap[n] && n > 0 && isWord(t.text[n-1]) && isWord(flat[0]) || end < len(t.text) && !t.gap[end] && isWord(t.text[end]) && isWord(flat[len(flat)-1])) {
			continue
		}
		t.mark(n, end)
		at = end
	}
}

// markCut marks where the text has the beginning of a value or prompt, cut off with dots. Of a value that holds for the end of the
// text too, and for the end of the value behind dots or at the beginning.
func (t *flatText) markCut(flat string, value bool) {
	if value {
		t.markTail(0, flat)
	}
	at := 0
	for range maxCuts {
		dots := nextDots(t.text[at:])
		if dots.from == dots.to && !value {
			return
		}
		end := at + dots.from
		for n := min(len(flat), end); n >= minStart; n-- {
			if string(t.text[end-n:end]) == flat[:n] {
				t.mark(end-n, end)
				break
			}
		}
		if dots.from == dots.to {
			return
		}
		if at += dots.to; value {
			t.markTail(at, flat)
		}
	}
}

// markTail marks the end of a value at a place of the text.
func (t *flatText) markTail(at int, flat string) {
	for n := min(len(flat), len(t.text)-at); n >= minStart; n-- {
		if string(t.text[at:at+n]) == flat[len(flat)-n:] {
			t.mark(at, at+n)
			return
		}
	}
}

// maxCuts is how many dots of a text are looked at.
const maxCuts = 64

// nextDots is where a text has its first … or ..., or its end if there are none.
func nextDots(text []byte) span {
	from, length := len(text), 0
	for _, dots := range [...]string{"…", "..."} {
		if n := bytes.Index(text, []byte(dots)); n >= 0 && n < from {
			from, length = n, len(dots)
		}
	}
	return span{from, from + length}
}

// maxStart is the longest beginning that is looked for: of a longer one, a piece is found as a quote.
const maxStart = 64

// spans are the parts of the text that are marked. Spaces and escapes between two marked characters belong to them.
func (t *flatText) spans() (list []span) {
	for i := 0; i < len(t.hide); i++ {
		if !t.hide[i] {
			continue
		}
		j := i
		for j < len(t.hide) && t.hide[j] {
			j++
		}
		list = append(list, t.source(t.s, span{i, j}))
		i = j
	}
	return merged(list)
}
