package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// withoutPrompt takes out of a text what it quotes of a prompt: all of it, its lines, its beginning, or any longer piece,
// however it is escaped or broken into lines. lines says that a line of it is taken out even if it is a single word.
//
// Both are compared without spaces and escapes. The characters of each window of the text are hashed, and the prompt, which
// may be long, is gone through once.
func withoutPrompt(s string, q quote, lines bool) string {
	prompt, asked := q.text, q.flat
	text := normalise(s, true)
	if len(text.flat) == 0 || len(asked) == 0 {
		return s
	}
	hide := make([]bool, len(text.flat))
	text.markQuotes(asked, hide)
	if lines {
		flat, n := string(text.flat), 0
		for line := range strings.Lines(prompt) {
			if line = strings.TrimSpace(line); len(line) >= minLine && len(line) < 2*longQuote { // a longer one is a quote
				text.markWhole(flat, line, hide)
				if n++; n == maxLines {
					break
				}
			}
		}
		if len(prompt) < 2*longQuote {
			text.markWhole(flat, strings.TrimSpace(prompt), hide)
		}
		text.markStart(flat, asked, hide)
	}
	return replace(s, text.spans(s, hide))
}

// flatText is a text without spaces and escapes.
type flatText struct {
	flat []byte
	at   []int // where each byte is in the text, and where the text ends
	gap  []bool
}

// normalise takes spaces and escapes out of a text, and what a URL has in their place. gap says that a space was before a byte. Where the bytes
// were is kept on demand: it takes nine times the memory.
func normalise(s string, places bool) flatText {
	t := flatText{flat: make([]byte, 0, len(s))}
	if places {
		t.at, t.gap = make([]int, 0, len(s)+1), make([]bool, 0, len(s))
	}
	add := func(b byte, at int, gap bool) {
		if t.flat = append(t.flat, b); places {
			t.at, t.gap = append(t.at, at), append(t.gap, gap)
		}
	}
	space := true
	for i := 0; i < len(s); {
		b := s[i]
		if b == '\\' {
			end := escapeEnd(s, i)
			if r, ok := escaped(s[i:end]); ok {
				for _, c := range []byte(string(r)) {
					add(c, i, space)
					space = false
				}
			} else if end > i+1 && isAlnum(s[end-1]) {
				space = true // a line break
			}
			i = max(end, i+1)
			continue
		}
		if b == '%' {
			if end := escapeEnd(s, i); end > i {
				if c := unhex(s[i+1])<<4 | unhex(s[i+2]); c > ' ' && c != '+' {
					add(c, i, space)
					space = false
				} else {
					space = true
				}
				i = end
				continue
			}
		}
		if isSpace(b) || b == '+' { // which is a space in the query of a URL
			space = true
			i++
			continue
		}
		if b > ' ' && b < utf8.RuneSelf {
			add(b, i, space)
			space = false
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if unicode.IsSpace(r) {
			space = true
			i += n
			continue
		}
		for j := range n {
			add(s[i+j], i, space && j == 0)
		}
		space = false
		i += n
	}
	if places {
		t.at = append(t.at, len(s))
	}
	return t
}

// escaped is the character that \u0041 stands for, unless it is a space.
func escaped(e string) (rune, bool) {
	e = strings.TrimLeft(e, `\`)
	if len(e) != 5 || e[0] != 'u' {
		return 0, false
	}
	r := rune(0)
	for i := 1; i < 5; i++ {
		r = r<<4 | rune(unhex(e[i]))
	}
	return r, !unicode.IsSpace(r) && r >= ' ' && utf8.ValidRune(r)
}

// unhex is what a hexadecimal figure stands for.
func unhex(b byte) byte {
	if isAlpha(b) {
		return b | 0x20 - 'a' + 10
	}
	return b - '0'
}

const base = 1_000_003

// markQuotes marks the pieces of the text that are in the prompt too, where they are long enough to be a quote.
func (t *flatText) markQuotes(asked []byte, hide []bool) {
	if len(t.flat) < gram || len(asked) < gram {
		return
	}
	where := make(map[uint64][]int, len(t.flat))
	var some [1 << 10]uint64 // a bit for the hashes in it: most of a prompt's are not, and are told so at once
	const bits = 16
	more := false // a piece stands in more places than are looked at
	rolling(t.flat, func(at int, hash uint64) {
		list := where[hash]
		if len(list) == maxSame {
			more = true
			return
		}
		where[hash] = append(list, at)
		bit := hash >> (64 - bits)
		some[bit/64] |= 1 << (bit % 64)
	})
	done := 0 // of the prompt: what was compared as part of a longer quote begins no other
	rolling(asked, func(at int, hash uint64) {
		if bit := hash >> (64 - bits); at < done || some[bit/64]&(1<<(bit%64)) == 0 {
			return
		}
		longest := 0
		for _, from := range where[hash] {
			n := 0
			for from+n < len(t.flat) && at+n < len(asked) && t.flat[from+n] == asked[at+n] {
				n++
			}
			longest = max(longest, n)
			if n >= gram && t.isQuote(from, n) {
				for i := from; i < from+n; i++ {
					hide[i] = true
				}
			}
		}
		if longest > gram {
			done = at + longest - gram + 1
		}
	})
	if more {
		t.markSame(where, hide)
	}
}

// markSame marks the further places of pieces that stand in the text so often that not all were compared.
func (t *flatText) markSame(where map[uint64][]int, hide []bool) {
	rolling(t.flat, func(at int, hash uint64) {
		list := where[hash]
		if len(list) < maxSame || !hide[list[0]] || !hide[list[0]+gram-1] {
			return
		}
		for i := at; i < at+gram; i++ {
			hide[i] = true
		}
	})
}

// maxSame bounds how many places with the same characters are looked at, for the time of a text that repeats itself.
const maxSame = 8

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
		if t.flat[i] >= 0xc0 {
			wide++
		}
	}
	return n >= minQuote && words >= minWords || wide >= gram/2 // scripts without spaces
}

// markWhole marks where the text has a whole prompt or line.
func (t *flatText) markWhole(text, line string, hide []bool) {
	flat := string(normalise(line, false).flat)
	if len(flat) < minWhole {
		return
	}
	for at := 0; ; {
		n := strings.Index(text[at:], flat)
		if n < 0 {
			return
		}
		n += at
		end := n + len(flat)
		at = n + 1
		if !t.gap[n] && n > 0 && isWord(text[n-1]) && isWord(flat[0]) || end < len(text) && !t.gap[end] && isWord(text[end]) && isWord(flat[len(flat)-1]) {
			continue
		}
		for i := n; i < end; i++ {
			hide[i] = true
		}
		at = end
	}
}

// markStart marks where the text has the beginning of the prompt, cut off with dots.
func (t *flatText) markStart(text string, asked []byte, hide []bool) {
	for _, dots := range [...]string{"…", "..."} {
		for at := 0; ; {
			n := strings.Index(text[at:], dots)
			if n < 0 {
				break
			}
			n += at
			at = n + len(dots)
			for length := min(n, len(asked), maxStart); length >= minStart; length-- {
				if string(asked[:length]) == text[n-length:n] {
					for i := n - length; i < n; i++ {
						hide[i] = true
					}
					break
				}
			}
		}
	}
}

// maxStart is the longest beginning that is looked for: of a longer one, a piece is found as a quote.
const maxStart = 64

// spans are the parts of the text that are marked. Spaces and escapes between two marked characters belong to them.
func (t *flatText) spans(s string, hide []bool) (list []span) {
	for i := 0; i < len(hide); i++ {
		if !hide[i] {
			continue
		}
		j := i
		for j < len(hide) && hide[j] {
			j++
		}
		from, to := t.at[i], t.at[j-1]
		if s[to] == '\\' || s[to] == '%' {
			to = max(to+1, escapeEnd(s, to))
		} else {
			_, n := utf8.DecodeRuneInString(s[to:])
			to += n
		}
		if len(list) > 0 && list[len(list)-1].to >= from {
			list[len(list)-1].to = max(list[len(list)-1].to, to)
		} else {
			list = append(list, span{from, to})
		}
		i = j
	}
	return list
}
