package printable

import (
	"fmt"
	"unicode/utf8"
)

// JSON returns JSON in which the characters that control a terminal are escaped, also those that encoding/json leaves as they are: DEL,
// C1 and the direction of writing. Outside of strings JSON has none of them. A piece of JSON must not end within a character.
func JSON(data []byte) []byte {
	if !needsEscape(data) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = append(out, `\ufffd`...)
		case r > '~' && Controls(r):
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			out = append(out, data[i:i+size]...)
		}
		i += size
	}
	return out
}

// needsEscape reports whether there is one of the first bytes of what is escaped, or a byte that is no text at all.
func needsEscape(data []byte) bool {
	for _, c := range data {
		if c == 0x7f || c == 0xc2 || c == 0xe2 {
			return true
		}
	}
	return !utf8.Valid(data)
}
