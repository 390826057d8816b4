package redact

import "strings"

// value is what stands behind a name.
type value struct {
	from, to int
	quoted   bool
	sep      byte // = or :, or a space where there is only that
}

// valueAfter reads the value behind a name that ends at j: behind =, : or =>, with spaces or without, in quotes or not, in
// JSON and in JSON that is itself quoted in JSON. ok is false if there is none.
func valueAfter(s string, j int) (v value, ok bool) {
	j = skipQuote(s, j)
	if j < len(s) && s[j] == ']' { // headers["name"] = value
		j++
	}
	k := skipBlanks(s, j)
	if strings.HasPrefix(s[k:], "value=") { // key="name" value="…" in XML
		k += len("value")
	}
	switch {
	case k < len(s) && (s[k] == '=' || s[k] == ':'):
		v.sep = s[k]
		k++
		if k < len(s) && (s[k] == '=' || s[k] == '>') { // := and =>, also ==
			k, v.sep = k+1, '='
		}
	default:
		return v, false
	}
	spaced := k
	k = skipBlanks(s, k)
	if v.sep == ':' && k == spaced {
		v.sep = '=' // name:value is as good as name=value
	}
	if k < len(s) && s[k] == '[' && !strings.HasPrefix(s[k:], Marker) { // a list of one, as Go prints headers
		k++
	}
	if strings.HasPrefix(s[k:], "Some(") { // as Rust prints what may be missing
		k += len("Some(")
	}
	if k+1 < len(s) && strings.IndexByte("Nbruf@", s[k]) >= 0 && isQuote(s[k+1]) { // N'…' of SQL, b'…' of Python
		k++
	}
	if k == len(s) || strings.IndexByte("{[(", s[k]) >= 0 { // its parts have names of their own
		return v, false
	}
	v.quoted, v.from, v.to = read(s, k)
	return v, v.to > v.from
}

// read reads a value that begins at k: up to the closing quote, or as far as a word goes.
func read(s string, k int) (quoted bool, from, to int) {
	q := k
	for q < len(s) && s[q] == '\\' {
		q++
	}
	if q < len(s) && isQuote(s[q]) {
		return true, q + 1, quoteEnd(s, q+1, s[q], q-k)
	}
	return false, k, wordEnd(s, k)
}

// quoteEnd is where a quote ends that began with so many backslashes before it: at the next one of its kind with as many or
// fewer, else at the end of the line, where it was cut off.
func quoteEnd(s string, i int, quote byte, depth int) int {
	slashes := 0
	for ; i < len(s); i++ {
		switch b := s[i]; {
		case b == '\\':
			slashes++
			continue
		case b == quote && slashes <= depth:
			return i - slashes
		case b == '\n', b == '[' && strings.HasPrefix(s[i:], Marker):
			return i
		}
		slashes = 0
	}
	return i
}

// maxValue is how long a value without quotes is, unless it is one long word. It bounds what is read more than once.
const maxValue = 1 << 10

// wordEnd is where a value without quotes ends. A comma, a semicolon or a bracket may be a part of a password; it ends the
// value if a space, the end, or another name follows.
func wordEnd(s string, i int) int {
	for most := i + maxValue; i < len(s); i++ {
		switch b := s[i]; {
		case i >= most && b < 0x80 && !isAlnum(b):
			return i
		case b < ' ', b == ' ', isQuote(b), b == '[' && strings.HasPrefix(s[i:], Marker):
			return i
		case b == '\\':
			if rest := strings.TrimLeft(s[i:], `\`); rest == "" || isQuote(rest[0]) || strings.IndexByte("nrtu", rest[0]) >= 0 { // an escaped quote or line break
				return i
			}
		case strings.IndexByte(",;&|", b) >= 0:
			if i+1 == len(s) || strings.IndexByte(" \t\r\n\"'`\\[{", s[i+1]) >= 0 || beginsPair(s, i+1) {
				return i
			}
		case strings.IndexByte(")]}>", b) >= 0:
			if i+1 == len(s) || strings.IndexByte(" \t\r\n\"'`\\.,;:)]}>", s[i+1]) >= 0 {
				return i
			}
		case strings.HasPrefix(s[i:], "…"):
			return i
		}
	}
	return i
}

// beginsPair reports whether name= or name: stands at i.
func beginsPair(s string, i int) bool {
	n := run(s, i, dotted, 40)
	if i+n < len(s) && s[i+n] == ' ' { // User Id=
		m := run(s, i+n+1, alnum, 20)
		n += 1 + m
	}
	return n > 0 && i+n < len(s) && (s[i+n] == '=' || s[i+n] == ':')
}

// lineEnd is where a header's value ends: at the end of the line, or at the quote that the whole of it stands in.
func lineEnd(s string, from, name int) int {
	quote := byte(0)
	if name > 0 && isQuote(s[name-1]) {
		quote = s[name-1]
	}
	inner := false // there are quotes in it, around its parameters
	for i := from; i < len(s); i++ {
		inner = inner || isQuote(s[i]) && strings.HasSuffix(strings.TrimRight(s[from:i], `\`), "=")
		switch b := s[i]; {
		case b == '\n', b == '\r', b == quote, isQuote(b) && quote == 0 && !inner, b == ']', b == '[' && strings.HasPrefix(s[i:], Marker):
			for i > from && (s[i-1] == '\\' || s[i-1] == ' ') {
				i--
			}
			return i
		case b == '\\':
			if rest := strings.TrimLeft(s[i:], `\`); rest != "" && strings.IndexByte("nr", rest[0]) >= 0 {
				return i
			}
		}
	}
	return len(s)
}

func skipBlanks(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// skipQuote goes behind the quote that closes a name, with the backslashes before it.
func skipQuote(s string, i int) int {
	j := i
	for j < len(s) && s[j] == '\\' {
		j++
	}
	if j < len(s) && isQuote(s[j]) {
		return j + 1
	}
	return i
}
