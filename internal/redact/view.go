package redact

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// view is a text as a reader would see it, without the encodings that programs print it in. It knows where each byte comes from.
type view struct {
	text     []byte
	from, to []int  // of each byte, in the text that it is a view of
	gap      []bool // there was a space before the byte
	lost     bool   // where it comes from is not kept, which takes 17 times the memory
}

// maxLayers is how many encodings may lie one upon the other, such as HTML in JSON in the query of a URL.
const maxLayers = 3

// decoded is a text without escapes: \" and \/ and \u0041 of JSON however often it is quoted, \x41 and \101, %41, &quot; and
// &#65; of HTML, colours of a terminal, and characters without a width.
func decoded(s string, lost bool) view {
	v := view{text: []byte(s), lost: lost}
	for range maxLayers {
		if !v.decode() {
			break
		}
	}
	return v
}

// decode takes one layer off, and reports whether there was one.
func (v *view) decode() bool {
	if !slices.ContainsFunc(v.text, beginsEscape) {
		return false
	}
	s := string(v.text)
	next := view{text: make([]byte, 0, len(s)), lost: v.lost}
	changed := false
	for i := 0; i < len(s); {
		piece, end := s[i:i+1], i+1
		if beginsEscape(s[i]) {
			if found := escape().FindString(s[i:min(len(s), i+maxEscape)]); found != "" {
				piece, end, changed = unescaped(found), i+len(found), true
			}
		}
		next.text = append(next.text, piece...)
		for range len(piece) {
			if !v.lost {
				next.from, next.to = append(next.from, v.start(i)), append(next.to, v.end(end-1))
			}
		}
		i = end
	}
	if changed {
		*v = next
	}
	return changed
}

func beginsEscape(b byte) bool { return strings.IndexByte("\\%&\x1b\xc2\xe2\xef", b) >= 0 }

// escape is what stands for a character, or for none.
var escape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:\\+(?:u001[bB]\[[0-9;]*[mKJH]|u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,5}\}|x[0-9a-fA-F]{2}|[0-3][0-7]{2}|[nrtbf])?|` +
		`%[0-9a-fA-F]{2}|&(?:quot|apos|amp|lt|gt|nbsp|#[0-9]{1,6}|#[xX][0-9a-fA-F]{1,5});|\x1b\[[0-9;]*[mKJH]|[\x{200b}-\x{200d}\x{2060}\x{feff}\x{ad}])`)
})

// maxEscape is more than the longest of them has.
const maxEscape = 48

// unescaped is what an escape stands for.
func unescaped(e string) string {
	number := func(text string, base int) string {
		n, _ := strconv.ParseUint(text, base, 32)
		return string(rune(n))
	}
	rest := strings.TrimLeft(e, `\`)
	switch {
	case e[0] == '%':
		n, _ := strconv.ParseUint(e[1:], 16, 8)
		return string([]byte{byte(n)})
	case strings.HasPrefix(e, "&#"):
		base := 10
		if e = strings.TrimSuffix(e[2:], ";"); e[0]|0x20 == 'x' {
			e, base = e[1:], 16
		}
		return number(e, base)
	case e[0] == '&':
		return map[string]string{"&quot;": `"`, "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&nbsp;": " "}[e]
	case e[0] != '\\', rest == "", strings.HasSuffix(rest, "m") && len(rest) > 5: // a colour, nothing, or the backslashes before a character
		return ""
	case len(rest) > 6 && rest[1] != '{': // a pair
		high, _ := strconv.ParseUint(rest[1:5], 16, 32)
		low, _ := strconv.ParseUint(rest[len(rest)-4:], 16, 32)
		return string(utf16.DecodeRune(rune(high), rune(low)))
	case rest[0] == 'u':
		return number(strings.Trim(rest[1:], "{}"), 16)
	}
	r, wide, _, _ := strconv.UnquoteChar(`\`+rest, 0)
	if !wide {
		return string([]byte{byte(r)})
	}
	return string(r)
}

// start and end are where a byte begins and ends in the text that it is a view of.
func (v *view) start(i int) int {
	if v.from == nil {
		return i
	}
	return v.from[i]
}

func (v *view) end(i int) int {
	if v.to == nil {
		return i + 1
	}
	return v.to[i]
}

// flat is a view without spaces, for texts that are broken into lines or joined: what a URL has in their place goes too.
func flat(s string, lost bool) view {
	v := decoded(s, lost)
	n, space := 0, true
	var from, to []int
	for i := 0; i < len(v.text); {
		r, size := utf8.DecodeRune(v.text[i:])
		if r == '+' || r < ' ' || unicode.IsSpace(r) {
			space = true
			i += size
			continue
		}
		for range size {
			v.text[n] = v.text[i]
			if !lost {
				from, to, v.gap = append(from, v.start(i)), append(to, v.end(i)), append(v.gap, space)
			}
			space = false
			n, i = n+1, i+1
		}
	}
	v.text, v.from, v.to = v.text[:n], from, to
	return v
}

// source is the part of a text that a part of its view comes from, in whole characters.
func (v *view) source(s string, p span) span {
	from, to := v.start(p.from), v.end(p.to-1)
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from--
	}
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	return span{from, to}
}
