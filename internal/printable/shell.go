package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quoted is a word as a POSIX shell reads it back.
func Quoted(word string) string {
	switch {
	case !utf8.ValidString(word) || strings.ContainsFunc(word, unicode.IsControl):
		return escaped(word)
	case word != "" && !strings.ContainsFunc(word, isSpecial):
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// isSpecial reports whether a character may mean something to a shell.
func isSpecial(c rune) bool {
	return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./:=@%+,", c) || c > 0x7f)
}

// escaped is a word with what no terminal is shown as it is: line ends, other control characters, and bytes that are no text.
func escaped(word string) string {
	var b strings.Builder
	for i, c := range word {
		size := utf8.RuneLen(c)
		if c == utf8.RuneError {
			_, size = utf8.DecodeRuneInString(word[i:])
		}
		switch {
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\\':
			b.WriteString(`\\`)
		case unicode.IsControl(c), c == '\'', c == utf8.RuneError && size == 1, c == '-' && i == 0: // which printf takes for an option
			for _, octet := range []byte(word[i : i+size]) {
				fmt.Fprintf(&b, `\%03o`, octet)
			}
		default:
			b.WriteString(word[i : i+size])
		}
	}
	if strings.HasSuffix(word, "\n") { // which a substitution takes off
		return "$'" + b.String() + "'"
	}
	return `"$(printf '` + strings.ReplaceAll(b.String(), "%", "%%") + `')"`
}
