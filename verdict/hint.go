package verdict

import (
	"strings"
	"time"
)

// maxHint is the longest wait that is accepted. A longer one is a number that
// means something else; go-retryablehttp users saw "retrying in
// 484289h20m8s".
const maxHint = 366 * 24 * time.Hour

// Hint is when a service asks to be called again. The zero value means that it
// did not say.
type Hint struct {
	// After is how long to wait, counted from the failure.
	After time.Duration

	// At is the moment to wait for. It may lie in the past.
	At time.Time

	// Inferred says that At was worked out from a clock time that came without a
	// date or without a zone, "resets 2:21am". It is good for waiting, but what
	// it says depends on when and where it is read.
	Inferred bool
}

// IsZero reports whether there is no hint.
func (h Hint) IsZero() bool { return h.After <= 0 && h.At.IsZero() }

// Wait returns how long to wait from now: the later of both, never negative.
func (h Hint) Wait(now time.Time) time.Duration {
	wait := max(h.After, 0)
	if !h.At.IsZero() {
		wait = max(wait, h.At.Sub(now))
	}
	return wait
}

// ParseHint finds in foreign text when to come back.
//
// Fields come first: headers and JSON members such as Retry-After, retryDelay,
// resetsAt and x-ratelimit-reset, the last response that has one. A reset
// counts only if the same response does not say that something remains. Without
// a field it is the last phrase: "try again in 3 days 4 hours", "wait 30
// seconds", "resets 3pm (Europe/Berlin)", "limit reached|1753088400". The last,
// because it belongs to the failure that ended the attempt.
//
// A clock time without a zone is one in now's location, and without a date its
// next occurrence. ParseHint is strict: what it is not sure of, such as an
// unknown zone, a number without a unit or a wait beyond a year, is no hint.
func ParseHint(text string, now time.Time) (Hint, bool) {
	h, _ := findHint(plain(text), now)
	return h, !h.IsZero()
}

// origin ranks where a hint comes from.
type origin int

const (
	nowhere origin = iota
	fromPhrase
	fromField
)

// findHint is [ParseHint] for text that is plain already.
func findHint(text string, now time.Time) (Hint, origin) {
	stems := findStems(text)
	unread := len(text) // from here on no field counts
	var phrase Hint
	for n := len(stems) - 1; n >= 0; n-- {
		if stems[n] < unread {
			if _, ok := fieldAt(text, stems[n], now); ok {
				start, end := block(text, stems[n])
				if h := blockHint(text[:end], start, stems[:n+1], now); !h.IsZero() {
					return h, fromField
				}
				unread = start
			}
		}
		if phrase.IsZero() {
			if h, ok := phraseAt(text, stems[n], now); ok {
				phrase = h
			}
		}
	}
	if phrase.IsZero() {
		phrase = foreignHint(text, now)
	}
	if phrase.IsZero() {
		return Hint{}, nowhere
	}
	return phrase, fromPhrase
}

// maxStems bounds the work on a text that is nothing but stems.
const maxStems = 4096

// findStems returns where the words stand that every form of hint contains, the
// last ones if there are many. All parsing starts at one of them, so that
// looking through text without a hint costs about a nanosecond a byte.
func findStems(text string) []int {
	var at []int
	for i := 0; i+stemLen <= len(text); i++ {
		switch text[i] | 0x20 {
		case 'r', 'a', 'w', 'u':
		default:
			continue
		}
		if stemAt(text, i) == "" {
			continue
		}
		if len(at) == 2*maxStems {
			at = at[:copy(at, at[maxStems:])]
		}
		at = append(at, i)
	}
	return at[max(len(at)-maxStems, 0):]
}

const stemLen = 5

// stemAt returns the stem at i, or "".
func stemAt(text string, i int) string {
	word := text[i : i+stemLen]
	switch text[i+1] | 0x20 {
	case 'e':
		for _, stem := range [...]string{"retry", "reset", "reach", "regai", "reple"} {
			if foldEqual(word, stem) {
				return stem
			}
		}
	case 'g':
		if foldEqual(word, "again") {
			return "again"
		}
	case 'v':
		if foldEqual(word, "avail") {
			return "avail"
		}
	case 'a':
		if foldEqual(word, "wait ") {
			return "wait "
		}
	case 'n':
		if foldEqual(word, "until") {
			return "until"
		}
	}
	return ""
}

// foldEqual reports whether s is lower, but for the case of ASCII letters.
func foldEqual(s, lower string) bool {
	return len(s) == len(lower) && strings.EqualFold(s, lower)
}

func lowerByte(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// HintOf returns when the output of an outcome says to come back. stderr goes before stdout, and a header in either
// goes before prose.
func HintOf(o Outcome, now time.Time) Hint {
	return bestHint(&stream{name: "stderr", excerpt: o.Stderr}, &stream{name: "stdout", excerpt: o.Stdout}, now)
}

// LastWords is the last thing a program said: on stderr, or else on stdout.
func LastWords(o Outcome) string {
	return lastWords(&stream{name: "stderr", excerpt: o.Stderr}, &stream{name: "stdout", excerpt: o.Stdout})
}
