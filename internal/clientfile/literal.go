package clientfile

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// unit is one character of a JSON string: what it means and how it is written.
type unit struct {
	char    rune
	written string
}

// units takes a JSON string, with its quotes, apart. The string must have been parsed.
func units(literal []byte) []unit {
	text := literal[1 : len(literal)-1]
	list := make([]unit, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if text[i] == '\\' {
			r, size, _ = escape(text[i:])
		}
		list = append(list, unit{r, string(text[i : i+size])})
		i += size
	}
	return list
}

// escape reads an escape at the beginning of text.
func escape(text []byte) (r rune, size int, ok bool) {
	if len(text) < 2 {
		return 0, 0, false
	}
	if i := strings.IndexByte(`"\/bfnrt`, text[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2, true
	}
	r, ok = hex4(text)
	if !ok {
		return 0, 0, false
	}
	if utf16.IsSurrogate(r) {
		if low, ok := hex4(text[6:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				return pair, 12, true
			}
		}
		return utf8.RuneError, 6, true
	}
	return r, 6, true
}

// hex4 reads \uXXXX.
func hex4(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil && text[2] != '+' && text[2] != '-'
}

// meaning is what a list of units says.
func meaning(list []unit) string {
	var b strings.Builder
	for _, u := range list {
		b.WriteRune(u.char)
	}
	return b.String()
}

// written is how a list of units stands in the file.
func written(list []unit) string {
	var b strings.Builder
	for _, u := range list {
		b.WriteString(u.written)
	}
	return b.String()
}

// escaped is how plain text of ours stands between double quotes, in JSON and in TOML.
func escaped(plain string) string {
	var b strings.Builder
	for _, r := range plain {
		switch {
		case r == '"' || r == '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// quoted is a text of ours in double quotes.
func quoted(plain string) string { return `"` + escaped(plain) + `"` }
