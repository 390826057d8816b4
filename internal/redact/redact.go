// Package redact takes credentials out of text before it is stored or sent.
//
// A credential is recognised in four ways:
//
//   - by its shape: [shapes] is the table of the vendors' tokens;
//   - by its place: the value of a name such as password or api_key, in any of the notations in which those are printed, a
//     header, the user info of a URL, an option of a command line;
//   - as a long random word, which is told from a written one by how likely its letters follow each other;
//   - because it is known: [Known] has the values of the environment and the command line, and the prompt.
//
// What helps to understand a failure stays: hashes of commits, UUIDs, the ids of sessions and requests, paths.
//
// The scanner goes through the text once, from left to right. Nothing is compiled, and its time is linear in the length of the
// text, whatever the text is: it comes from programs that Belay does not know.
package redact

import "strings"

// Marker stands where a credential was.
const Marker = "[redacted]"

// Text replaces what looks like a credential. The result of valid UTF-8 is valid UTF-8, and redacting it again changes nothing.
func Text(s string) string {
	// Where one credential is gone, the text around it may read as another: two words become neighbours of a marker. The
	// second pass almost always finds nothing.
	for range maxPasses {
		found := scan(s)
		if len(found) == 0 {
			return s
		}
		s = replace(s, found)
	}
	return s
}

// ID replaces a name or an id that is a token of a vendor. An id may well be random: what else looks like a credential stays.
func ID(s string) string {
	for i := range len(s) {
		if isWord(s[i]) && (i == 0 || !isWord(s[i-1])) && (vendorToken(s, i) > i || numberedToken(s, i) > i) {
			return Marker
		}
	}
	return s
}

// maxPasses bounds how often a text is scanned. The fuzz test knows no text that needs more than three.
const maxPasses = 5

// span is a part of a text.
type span struct{ from, to int }

// replace puts a marker in the place of each span. They are in order and do not overlap.
func replace(s string, spans []span) string {
	var b strings.Builder
	last := 0
	for _, p := range spans {
		b.WriteString(s[last:p.from])
		if !strings.HasSuffix(b.String(), Marker) { // one marker for what was one word
			b.WriteString(Marker)
		}
		last = p.to
	}
	b.WriteString(s[last:])
	return b.String()
}

// scanner finds credentials in a text.
type scanner struct {
	s     string
	found []span

	floor int // where the last credential, marker or escape ended: what follows begins a word
	name  int // the end of the last name that was read, so that each is read once
	word  int // likewise of the last word that was measured
}

// scan returns the credentials in a text, in order.
func scan(s string) []span {
	if len(s) < minText || len(s) < minCut && isLowerWord(s) { // such as the name of a profile
		return nil
	}
	c := scanner{s: s}
	for i := 0; i < len(s); {
		i = c.step(i)
	}
	return c.found
}

// minText is the length of the shortest text in which there could be a credential: pw=x is one, and "true" is none.
const minText = 4

// step looks at one position and returns the next.
func (c *scanner) step(i int) int {
	b := c.s[i]
	switch {
	case b == '[' && strings.HasPrefix(c.s[i:], Marker):
		return c.pass(i + len(Marker))
	case b == '\\' || b == '%' || b == 0x1b:
		end := escapeEnd(c.s, i)
		if end == i {
			return i + 1
		}
		if b == '\\' && isWord(c.s[end-1]) && len(c.s[i:end]) >= 2 { // \npm_… may be a path, and the n part of a token
			if letter := i + len(c.s[i:]) - len(strings.TrimLeft(c.s[i:], `\`)); vendorToken(c.s, letter) > letter {
				return c.pass(letter)
			}
		}
		return c.pass(end)
	case b == '-':
		if end := c.dash(i); end > i {
			return end
		}
		return i + 1
	case !isWord(b) || i > c.floor && isWord(c.s[i-1]):
		return i + 1
	}
	for _, look := range [...]func(*scanner, int) int{(*scanner).shape, (*scanner).named, (*scanner).measured} {
		if end := look(c, i); end > i {
			return end
		}
	}
	return i + 1
}

// pass goes on behind something that is no part of a word.
func (c *scanner) pass(end int) int {
	c.floor = end
	return end
}

// take says that a part is a credential, and returns where to go on.
func (c *scanner) take(from, to int) int {
	c.found = append(c.found, span{from, to})
	return c.pass(to)
}

// escapeEnd is where an escape ends that stands for a character: \n and \u000a, as in JSON, %0A, as in a URL, or a colour of
// a terminal. A letter of it is not the first letter of the word behind it. It returns i if there is none.
func escapeEnd(s string, i int) int {
	switch s[i] {
	case '%':
		if i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			return i + 3
		}
	case 0x1b:
		if i+1 < len(s) && s[i+1] == '[' {
			j := i + 2
			for j < len(s) && j < i+20 && (isDigit(s[j]) || s[j] == ';') {
				j++
			}
			if j < len(s) && strings.IndexByte("mKJH", s[j]) >= 0 {
				return j + 1
			}
		}
	case '\\':
		j := i
		for j < len(s) && s[j] == '\\' {
			j++
		}
		if j == len(s) {
			return j
		}
		switch s[j] {
		case 'n', 't', 'r', 'b', 'f':
			return j + 1
		case 'u':
			if j+4 < len(s) && isHex(s[j+1]) && isHex(s[j+2]) && isHex(s[j+3]) && isHex(s[j+4]) {
				return j + 5
			}
		case 'x':
			if j+2 < len(s) && isHex(s[j+1]) && isHex(s[j+2]) {
				return j + 3
			}
		}
		return j
	}
	return i
}

func isLowerWord(s string) bool {
	for i := range len(s) {
		if !isLower(s[i]) {
			return false
		}
	}
	return true
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }
func isLower(b byte) bool { return b >= 'a' && b <= 'z' }
func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }
func isAlpha(b byte) bool { return isLower(b | 0x20) }
func isAlnum(b byte) bool { return isDigit(b) || isAlpha(b) }
func isWord(b byte) bool  { return isAlnum(b) || b == '_' }
func isHex(b byte) bool   { return isDigit(b) || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F' }
func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }
func isQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }
