package verdict

import (
	"strings"
	"time"
)

// field is a header or a JSON member that says when to come back.
type field struct {
	name string // as it stands in the text
	kind fieldKind
	hint Hint
}

type fieldKind int

const (
	noField     fieldKind = iota
	retryAfter            // seconds, or a date
	retryMillis           // milliseconds
	delay                 // a duration with its unit
	resetIn               // seconds until the limit resets
	resetAt               // the moment at which it does
	limitReset            // a rate limit header: a moment, a duration, or seconds
)

// kindOf knows the names of fields, in whatever case and with - or _ or
// neither.
func kindOf(name string) fieldKind {
	switch bare := bareName(name); bare {
	case "retryafter", "retryafterseconds", "retryaftersecs":
		return retryAfter
	case "retryafterms", "xmsretryafterms", "retryaftermillis":
		return retryMillis
	case "retrydelay", "quotaresetdelay", "resetafter":
		return delay // Google
	case "retrydelayms":
		// Gemini's retryDelayMs is what the server asked for; claude's
		// retry_delay_ms is the wait that claude itself chose.
		if strings.Contains(name, "_") {
			return noField
		}
		return retryMillis
	case "resetsinseconds", "resetinseconds", "resetafterseconds":
		return resetIn // codex
	case "resetsat", "resetat", "resettime", "quotaresettimestamp":
		return resetAt // claude, codex, Google
	default:
		if !strings.Contains(bare, "ratelimit") || !strings.Contains(bare, "reset") {
			return noField
		}
		// Anthropic tells of every window (…-unified-5h-reset, -7d-reset), used
		// up or not; the one that counts is repeated without a window.
		if strings.Contains(bare, "unified") && !strings.HasSuffix(bare, "unifiedreset") {
			return noField
		}
		return limitReset
	}
}

func bareName(name string) string {
	bare := make([]byte, 0, maxName)
	for i := range len(name) {
		if c := name[i]; c != '-' && c != '_' {
			bare = append(bare, lowerByte(c))
		}
	}
	return string(bare)
}

// fieldAt reads the field whose name includes the stem at i.
func fieldAt(text string, i int, now time.Time) (field, bool) {
	name, rest := nameAt(text, i)
	f := field{name: name, kind: kindOf(name)}
	if f.kind == noField {
		return field{}, false
	}
	v, ok := valueAfter(rest)
	if !ok {
		return field{}, false
	}
	switch f.kind {
	case retryAfter, limitReset:
		f.hint, ok = retryAfterHint(v, now)
	case retryMillis:
		f.hint, ok = numberHint(v, time.Millisecond)
	case delay:
		f.hint, ok = spanHint(v)
	case resetIn:
		f.hint, ok = numberHint(v, time.Second)
	case resetAt:
		f.hint, ok = atHint(v, now)
	}
	return f, ok
}

// maxName is longer than any name of a field.
const maxName = 64

// nameAt returns the whole name around the stem at i, and what follows it.
func nameAt(text string, i int) (name, rest string) {
	start, end := i, i+stemLen
	for start > 0 && i-start < maxName && isNameByte(text[start-1]) {
		start--
	}
	for end < len(text) && end-i < maxName && isNameByte(text[end]) {
		end++
	}
	if start < i && escaped(text, start) {
		start++
	}
	return text[start:end], text[end:]
}

// escaped reports whether the letter at i belongs to a line break that a JSON
// string spells out, as in "429\nretry-after: 60".
func escaped(text string, i int) bool {
	return i > 0 && text[i-1] == '\\' && strings.IndexByte("nrt", text[i]) >= 0
}

func isNameByte(c byte) bool { return isAlnum(c) || c == '-' || c == '_' }

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// valueAfter returns the text from the value on that belongs to a name. It
// takes headers, JSON (also inside a JSON string), and how Node, Python, Ruby,
// Go and Rust print maps:
//
//	Retry-After: 17        "retryAfter": "17"      \"retry_after\":17
//	retry_after=17         'retry-after' => '17'   (b'retry-after', b'17')
//	Retry-After:[17]       retry_after: Some(17)
func valueAfter(rest string) (string, bool) {
	after := strings.TrimLeft(rest, `"'\`)
	quoted := len(after) < len(rest)
	after = strings.TrimLeft(after, " \t")
	if after == "" {
		return "", false
	}
	switch sep := after[0]; {
	case sep == ':', sep == '=', sep == ',' && quoted:
		after = strings.TrimPrefix(after[1:], ">")
	default:
		return "", false
	}
	after = strings.TrimLeft(after, " \t")
	after = strings.TrimPrefix(after, "Some(")
	if len(after) > 1 && after[0] == 'b' && (after[1] == '\'' || after[1] == '"') {
		after = after[1:]
	}
	return strings.TrimLeft(after, `"'\[`), true
}

// indexFold returns where lower stands in s from i on, whatever its case.
func indexFold(s, lower string, i int) int {
	for ; i+len(lower) <= len(s); i++ {
		if lowerByte(s[i]) == lower[0] && foldEqual(s[i:i+len(lower)], lower) {
			return i
		}
	}
	return -1
}
