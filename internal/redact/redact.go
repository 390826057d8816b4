// Package redact takes credentials out of text before it is stored or sent.
//
// A credential is recognised in five ways, each of which is a table that a row can be added to:
//
//   - by its shape: [shapes] has the vendors' tokens;
//   - by its name: [strengthOf] knows which names hold credentials, and [links] what may stand between a name and its value;
//   - by its place: [rules] has URLs, headers, languages and files, [clients] the options of programs;
//   - as a long random word, which is told from a written one by how likely its letters follow each other;
//   - because it is known: [Known] has the values of the environment and the command line, and the prompt.
//
// A text is looked at as it is and, if programs have escaped it, as a [view] without that.
//
// What helps to understand a failure stays: hashes of commits, UUIDs, the ids of sessions and requests, paths.
//
// A pattern is compiled for the first text that has the words it needs, and sees no more than a part of bounded length from there:
// the time is linear in the length of the text, whatever the text is. It comes from programs that Belay does not know.
package redact

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

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
		if isWord(s[i]) && (i == 0 || !isWord(s[i-1])) && vendorToken(s, i) > i {
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

	floor int // where the last credential or marker ended: what follows begins a word
	name  int // the end of the last name that was read, so that each is read once
	word  int // likewise of the last word that was measured
}

// scan returns the credentials in a text, in order.
func scan(s string) []span {
	if len(s) < minText || len(s) < minCut && only(s, isLower) { // such as the name of a profile
		return nil
	}
	found := look(withoutColours(s))
	if v := decoded(s, false); v.from != nil { // what another program has escaped: &quot;password&quot;: &quot;…
		for _, p := range look(string(v.text)) {
			found = append(found, v.source(s, p))
		}
	}
	return merged(found)
}

// look returns the credentials in a text as it is.
func look(s string) []span {
	c := scanner{s: s}
	for i := 0; i < len(s); {
		i = c.step(i)
	}
	return withoutMarkers(s, slices.Concat(c.found, byRule(s), byClient(s), bySeed(s)))
}

// withoutColours has spaces in the place of a terminal's colours, so that they are no letters of the words beside them.
func withoutColours(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	return colour().ReplaceAllStringFunc(s, func(c string) string { return strings.Repeat(" ", len(c)) })
}

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*[mKJH]`) })

// withoutMarkers are the parts of spans before a marker in them.
func withoutMarkers(s string, spans []span) (list []span) {
	for _, p := range spans {
		if n := strings.Index(s[p.from:p.to], Marker); n >= 0 {
			p.to = p.from + n
		}
		if p.from < p.to {
			list = append(list, p)
		}
	}
	return list
}

// merged puts spans in order, and makes one of those that overlap or touch.
func merged(spans []span) (list []span) {
	slices.SortFunc(spans, func(a, b span) int { return a.from - b.from })
	for _, p := range spans {
		if last := len(list) - 1; last >= 0 && p.from <= list[last].to {
			list[last].to = max(list[last].to, p.to)
		} else {
			list = append(list, p)
		}
	}
	return list
}

// minText is the length of the shortest text in which there could be a credential: pw=x is one, and "true" is none.
const minText = 4

// step looks at one position and returns the next.
func (c *scanner) step(i int) int {
	b := c.s[i]
	switch {
	case b == '[' && strings.HasPrefix(c.s[i:], Marker):
		return c.pass(i + len(Marker))
	case b == '-':
		if end := pemEnd(c.s, i); end > i {
			return c.take(i, end)
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

// only reports whether a text has no other characters.
func only(s string, of func(byte) bool) bool {
	for i := range len(s) {
		if !of(s[i]) {
			return false
		}
	}
	return true
}

// beginsWithAny reports whether a text begins with one of some words.
func beginsWithAny(s string, words []string) bool {
	for _, word := range words { // which is asked of every word: a function for slices.ContainsFunc takes as long as the rest
		if strings.HasPrefix(s, word) {
			return true
		}
	}
	return false
}

// endsWithAny reports whether a text ends with one of some words.
func endsWithAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasSuffix(s, word) })
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
