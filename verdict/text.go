package verdict

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/printable"
)

const ellipsis = "…"

// LastLines returns the last non-empty lines of text, at most so many and in
// all at most limit bytes, as something that can be shown on a terminal: valid
// UTF-8 without escape sequences or control characters. A line that does not
// fit is cut at its end, since the reason comes before the details.
func LastLines(text string, lines, limit int) string {
	var last []string
	room := limit
	for text != "" && len(last) < lines && room > 0 {
		var line string
		if i := strings.LastIndexAny(text, "\r\n"); i < 0 {
			line, text = text, ""
		} else {
			line, text = text[i+1:], text[:i]
		}
		if line = showable(line, limit); line == "" {
			continue
		}
		if len(line) > room {
			if len(last) > 0 {
				break
			}
			line = cut(line, room)
		}
		last = append(last, line)
		room -= len(line) + len("\n")
	}
	slices.Reverse(last)
	return strings.Join(last, "\n")
}

// showable cleans one line, of which no more than about that many bytes are
// wanted.
func showable(line string, wanted int) string {
	// Enough for each byte wanted to come with a colour of its own, and little
	// work on a line of 16 MiB.
	if enough := 8*wanted + 64; len(line) > enough {
		line = line[:enough]
	}
	line = stripEscapes(line)
	line = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return -1
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default: // control characters, and those that reverse the direction of text
			return -1
		}
	}, line)
	return strings.TrimSpace(line)
}

// cut shortens s to at most n bytes and shows that it did.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	mark := ellipsis
	if n < len(mark) {
		mark = ""
	}
	return printable.Prefix(s, max(n-len(mark), 0)) + mark
}

// plain returns text as a reader sees it: without escape sequences, and with
// lines that end in a newline alone.
func plain(text string) string {
	text = stripEscapes(text)
	if strings.IndexByte(text, '\r') >= 0 {
		text = strings.ReplaceAll(text, "\r\n", "\n")
		text = strings.ReplaceAll(text, "\r", "\n")
	}
	return text
}

// straightenQuotes makes ’ and ' alike: the same CLI writes "You’ve" in one version
// and "You've" in the next.
func straightenQuotes(text string) string { return strings.ReplaceAll(text, "’", "'") }

// originalOffset returns the offset in text that corresponds to an offset in
// straightenQuotes(text).
func originalOffset(text string, off int) int {
	for i := 0; ; {
		j := strings.Index(text[i:], "’")
		if j < 0 || i+j >= off {
			return off
		}
		off += len("’") - len("'")
		i += j + len("’")
	}
}

// stripEscapes removes ANSI escape sequences.
func stripEscapes(s string) string {
	i := strings.IndexByte(s, esc)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i >= 0 {
		b.WriteString(s[:i])
		s = s[i+escapeLen(s[i:]):]
		i = strings.IndexByte(s, esc)
	}
	b.WriteString(s)
	return b.String()
}

const (
	esc = 0x1b
	bel = 0x07
)

// escapeLen returns the length of the escape sequence that s starts with
// (ECMA-48). A sequence never reaches beyond its line, so that a stray escape
// removes no more than that.
func escapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	i := 2
	switch c := s[1]; {
	case c == '[': // parameters, then a final byte: colours, cursor
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x40 {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] < 0x7f {
			i++
		}
	case strings.IndexByte("]PX^_", c) >= 0: // a string: titles, links
		for i < len(s) && s[i] != bel && s[i] != esc && s[i] != '\n' {
			i++
		}
		switch {
		case strings.HasPrefix(s[i:], "\x1b\\"):
			i += 2
		case i < len(s) && s[i] == bel:
			i++
		}
	case c >= 0x20 && c < 0x30: // intermediates, then a final byte: character sets
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x30 {
			i++
		}
		if i < len(s) && s[i] >= 0x30 && s[i] < 0x7f {
			i++
		}
	case c < 0x20 || c >= 0x7f: // no sequence
		i = 1
	}
	return i
}
