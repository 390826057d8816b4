package printable

import "unicode/utf8"

// Prefix is the begin of a text that has at most n bytes, of whole characters.
func Prefix(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for back := 0; back < utf8.UTFMax && n > 0 && !utf8.RuneStart(text[n]); back++ {
		n--
	}
	return text[:n]
}

// WholeRunes is the length of a text without a last character that is not complete.
func WholeRunes(text []byte) int {
	for back := 1; back < utf8.UTFMax && back <= len(text); back++ {
		if rest := text[len(text)-back:]; utf8.RuneStart(rest[0]) {
			if !utf8.FullRune(rest) {
				return len(text) - back
			}
			break
		}
	}
	return len(text)
}
