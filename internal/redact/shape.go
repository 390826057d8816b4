package redact

import "strings"

// shape takes a token of a known shape that begins at i.
func (c *scanner) shape(i int) int {
	if end := vendorToken(c.s, i); end > i {
		return c.take(i, end)
	}
	if n := run(c.s, i, hexa, 33); n == 32 && strings.HasPrefix(c.s[i+n:], "-us") && run(c.s, i+n+3, digits, 3) > 0 { // Mailchimp
		return c.take(i, i+n+3+run(c.s, i+n+3, digits, 3))
	}
	return i
}

// vendorToken returns the end of a token of the table that begins at i; i if there is none.
func vendorToken(s string, i int) int {
	rest := s[i:]
	if len(rest) < 8 {
		return i
	}
	end := i
	for _, sh := range prefixes()[rest[0]] {
		if body, found := strings.CutPrefix(rest, sh.prefix); found {
			if n := sh.length(body); n > 0 {
				end = max(end, i+len(sh.prefix)+n)
			}
		}
	}
	return end
}

// length is how much of a text belongs to the body of a token whose prefix stands before it; 0 if it is none. A token that
// the end of the text has cut off may be shorter.
func (sh *prefixShape) length(rest string) int {
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
