package batch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// An id may have any bytes in it, as the names of files and old tables do; JSON may not. So an id that is not UTF-8 is written with `\xFC` for each
// byte that is not part of a character, and with a key beside it that says so. A backslash that would be taken for such an escape is escaped itself, so
// that no two ids are written in the same way.

// escapeID is how an id is written, and whether it differs from the id.
func escapeID(id string) (text string, escaped bool) {
	if !strings.Contains(id, `\x`) && utf8.ValidString(id) {
		return id, false
	}
	var b strings.Builder
	for i := 0; i < len(id); {
		c, size := utf8.DecodeRuneInString(id[i:])
		if _, isEscape := escapedByte(id[i:]); isEscape || c == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, `\x%02X`, id[i])
		} else {
			b.WriteString(id[i : i+size])
		}
		i += size
	}
	return b.String(), b.Len() != len(id)
}

// TextID is an id as text that any database can keep: also without a byte of 0. Two ids never lead to the same text.
func TextID(id string) string {
	text, _ := escapeID(id)
	return strings.ReplaceAll(text, "\x00", `\x00`)
}

// unescapeID is the id that escapeID has written.
func unescapeID(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c, isEscape := escapedByte(text[i:])
		if isEscape {
			i += len(`xFC`)
		} else {
			c = text[i]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// escapedByte is the byte for which a text that begins with an escape stands.
func escapedByte(text string) (byte, bool) {
	if len(text) < 4 || text[:2] != `\x` || strings.ContainsAny(text[2:4], "abcdef+-_") {
		return 0, false
	}
	c, err := strconv.ParseUint(text[2:4], 16, 8)
	return byte(c), err == nil
}
