package redact

import (
	"sort"
	"strings"
)

// shape takes a token of a known shape that begins at i.
func (c *scanner) shape(i int) int {
	if end := vendorToken(c.s, i); end > i {
		return c.take(i, end)
	}
	if end := numberedToken(c.s, i); end > i {
		return c.take(i, end)
	}
	return i
}

// vendorToken returns the end of a token of the table that begins at i; i if there is none.
func vendorToken(s string, i int) int {
	rest := s[i:]
	if len(rest) < 8 {
		return i
	}
	n := sort.Search(len(shapes), func(n int) bool { return shapes[n].prefix[:2] >= rest[:2] })
	end := i
	for ; n < len(shapes) && shapes[n].prefix[:2] == rest[:2]; n++ {
		sh := &shapes[n]
		if !strings.HasPrefix(rest, sh.prefix) {
			continue
		}
		if to := i + len(sh.prefix) + sh.length(rest[len(sh.prefix):]); to > i+len(sh.prefix) {
			end = max(end, to)
		}
	}
	return end
}

// length is how much of a text belongs to the body of a token whose prefix stands before it; 0 if it is none. A token that
// the end of the text has cut off may be shorter.
func (sh *tokenShape) length(rest string) int {
	n, opaque := 0, sh.body == hexa || sh.body == digits || sh.body == urlish
	for n < len(rest) && sh.body.has(rest[n]) && (opaque || n < maxWritten) {
		opaque = opaque || isDigit(rest[n]) || isUpper(rest[n])
		n++
	}
	least := sh.min
	if cutOff(rest[n:]) && len(sh.prefix) >= 4 {
		least = min(least, 4)
	}
	for n > 0 && strings.IndexByte(".-=/:?&!", rest[n-1]) >= 0 { // the end of a sentence
		if rest[n-1] == '=' && sh.body == base64 {
			break
		}
		n--
	}
	if n < least || !opaque {
		return 0
	}
	for n < len(rest) && isWord(rest[n]) { // a longer token of the kind than is known
		n++
	}
	return n
}

// maxWritten is how many letters without a digit or a capital are looked at: a token has one before that.
const maxWritten = 128

// cutOff reports whether a text was cut off here.
func cutOff(rest string) bool {
	return rest == "" || strings.HasPrefix(rest, "…") || strings.HasPrefix(rest, "...")
}

// numberedToken returns the end of a token that begins with a number of any length or is known by what it ends with: those of
// Telegram's bots (123456789:AA…), of Mailchimp (32 hexadecimal digits and -us12), of Azure's applications (abc8Q~…) and of
// Airtable (pat, 14 characters, a dot and 64 hexadecimal digits).
func numberedToken(s string, i int) int {
	start := i
	if strings.HasPrefix(s[i:], "bot") {
		i += 3
	}
	if n := run(s, i, digits, 12); n >= 7 && i+n < len(s) && s[i+n] == ':' {
		if m := run(s, i+n+1, dashed, 64); m >= 30 {
			return i + n + 1 + m
		}
	}
	i = start
	if n := run(s, i, hexa, 33); n == 32 && strings.HasPrefix(s[i+n:], "-us") {
		if m := run(s, i+n+3, digits, 3); m > 0 {
			return i + n + 3 + m
		}
	}
	if i+5 < len(s) && s[i+3] == '8' && s[i+4] == 'Q' && s[i+5] == '~' {
		end := i + 6
		for end < len(s) && (dotted.has(s[end]) || s[end] == '~') {
			end++
		}
		if end >= i+26 {
			return end
		}
	}
	if strings.HasPrefix(s[i:], "pat") && run(s, i+3, alnum, 15) == 14 && i+17 < len(s) && s[i+17] == '.' {
		if m := run(s, i+18, hexa, 80); m >= 20 {
			return i + 18 + m
		}
	}
	return start
}

// run is how many characters of an alphabet there are from i on, at most so many.
func run(s string, i int, of alphabet, most int) (n int) {
	for n < most && i+n < len(s) && of.has(s[i+n]) {
		n++
	}
	return n
}

// pemEnd returns the end of a private key in PEM that begins at i, or of what was cut off of it; i if there is none.
func pemEnd(s string, i int) int {
	const begin, end = "-----BEGIN ", "-----END "
	if !strings.HasPrefix(s[i:], begin) {
		return i
	}
	head := s[i+len(begin) : min(len(s), i+len(begin)+48)]
	if !strings.Contains(head, "PRIVATE KEY") && !(len(head) < 48 && !strings.Contains(head, "-----")) {
		return i
	}
	n := strings.Index(s[i+len(begin):], end)
	if n < 0 {
		return len(s)
	}
	n += i + len(begin) + len(end)
	if m := strings.Index(s[n:min(len(s), n+48)], "-----"); m >= 0 {
		return n + m + len("-----")
	}
	return len(s)
}
