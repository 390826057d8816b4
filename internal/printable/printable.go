// Package printable makes text that Belay did not write itself safe to show: the name of a command, an error, a session id may hold
// escape sequences that repaint the screen, move the cursor or set the title of the window.
//
// [Text] and [Line] are for people. Colours and other escape sequences are left out, since they are no part of what is said; every
// other control character shows as U+FFFD. [JSON] is for programs, which get everything, escaped.
package printable

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Text returns a text of any number of lines without anything that controls a terminal. Newlines and tabs stay.
func Text(text string) string {
	if isPlain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == '\n' || r == '\t':
			b.WriteByte(byte(r))
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"): // the end of a line on Windows
		case r == '\r': // progress: 10%\r20%
			b.WriteByte(' ')
		case r == escape || r == csi || r == osc || r == dcs:
			if n := sequence(text[i:]); n > 0 {
				i += n
				continue
			}
			b.WriteRune(utf8.RuneError)
		case Controls(r) || r == utf8.RuneError:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// Line is [Text] in one line: each run of newlines and tabs becomes a space, so that a text cannot pretend to be a line or a column of its
// own.
func Line(text string) string {
	text = Text(text)
	if !strings.ContainsAny(text, "\n\t\u2028\u2029") {
		return text
	}
	var b strings.Builder
	gap := false
	for _, r := range strings.Trim(text, "\n\t\u2028\u2029") {
		isGap := r == '\n' || r == '\t' || r == '\u2028' || r == '\u2029'
		switch {
		case !isGap:
			b.WriteRune(r)
		case !gap:
			b.WriteByte(' ')
		}
		gap = isGap
	}
	return b.String()
}

// Controls reports whether a character controls how others are shown: those of C0 and C1, DEL, and those that turn the direction of
// writing round, with which a text can be made to read as another one.
func Controls(r rune) bool {
	switch {
	case r < ' ', r >= 0x7f && r <= 0x9f:
		return true
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
		return true
	}
	return false
}

// isPlain reports whether a text has nothing but printable ASCII, newlines and tabs, as most have.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	return true
}

// The characters that begin a sequence: ESC, and those of C1 that stand for two characters.
const (
	escape = 0x1b
	dcs    = 0x90 // ESC P
	csi    = 0x9b // ESC [
	osc    = 0x9d // ESC ]
)

// maxSequence is the length of the longest sequence that is taken for one, in bytes: a link may have a long address.
const maxSequence = 4096

// sequence is the length of the escape sequence at the beginning of a text; 0 if there is no whole one.
func sequence(text string) int {
	text = text[:min(len(text), maxSequence)]
	first, n := utf8.DecodeRuneInString(text)
	if first == escape {
		if len(text) < 2 {
			return 0
		}
		switch text[1] {
		case '[':
			first = csi
		case ']', 'P', 'X', '^', '_':
			first = osc
		}
		n = 2
	}
	switch first {
	case csi: // parameters, intermediates, and one that ends it
		for ; n < len(text); n++ {
			if c := text[n]; c >= '@' && c <= '~' {
				return n + 1
			} else if c < ' ' || c > '?' {
				return 0
			}
		}
		return 0
	case osc, dcs: // a string, up to BEL or ST
		for i := n; i < len(text); i++ {
			switch {
			case text[i] == '\a':
				return i + 1
			case strings.HasPrefix(text[i:], "\x1b\\"), strings.HasPrefix(text[i:], "\u009c"):
				return i + 2
			case text[i] == '\n':
				return 0
			}
		}
		return 0
	}
	for n = 1; n < len(text) && text[n] >= ' ' && text[n] <= '/'; n++ { // ESC ( B
	}
	if n < len(text) && text[n] >= '0' && text[n] <= '~' {
		return n + 1
	}
	return 0
}

// maxDollars is the largest amount that is written out.
const maxDollars = 1e9

// Dollars shows a cost. What cannot be one is shown as unknown, and what is absurd is kept short: a cost is what a command says.
func Dollars(amount float64) string {
	switch {
	case math.IsNaN(amount), math.IsInf(amount, 0), amount < 0:
		return "unknown"
	case amount > maxDollars:
		return fmt.Sprintf("$%.3g", amount)
	}
	return fmt.Sprintf("$%.4f", amount)
}

// LiftCommand is what to type to lift a gate, as it can be pasted into a shell.
func LiftCommand(key string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(key, "-") {
		key = "'" + strings.ReplaceAll(key, "'", `'\''`) + "'"
		return "belay gates reset -- " + key
	}
	return "belay gates reset " + key
}

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

// Span shows a duration in at most two units: 350ms, 1.2s, 4m10s, 10m, 3h5m.
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	}
	d = d.Round(time.Second)
	unit, small, format := time.Minute, time.Second, "%dm%ds"
	switch {
	case d < time.Minute:
		return d.String()
	case d >= time.Hour:
		d = d.Round(time.Minute)
		unit, small, format = time.Hour, time.Minute, "%dh%dm"
	}
	if d%unit == 0 { // 10m, not 10m0s
		return fmt.Sprintf(format[:3], d/unit)
	}
	return fmt.Sprintf(format, d/unit, d%unit/small)
}

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

// ShortID is the end of a run's id: runs that begin together differ there, not at the front.
func ShortID(id string) string { return id[max(0, len(id)-8):] }

// IsPart reports whether a run can be meant by a part of its id: its end, as it is shown, or its begin.
func IsPart(part, id string) bool {
	return len(part) >= 4 && (strings.HasSuffix(id, part) || strings.HasPrefix(id, part)) // of less there are many
}
