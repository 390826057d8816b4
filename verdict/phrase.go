package verdict

import (
	"strings"
	"time"
)

// phraseAt reads the phrase around the stem at i.
func phraseAt(text string, i int, now time.Time) (Hint, bool) {
	if i > 0 && isNameByte(text[i-1]) && !escaped(text, i-1) {
		return Hint{}, false
	}
	rest := text[i+stemLen:]
	switch stemAt(text, i) {
	case "again":
		switch wordBefore(text, len(strings.TrimRight(text[:i], " \t\n"))) {
		case "try", "retry", "available":
			return afterPreposition(rest, now)
		}
	case "retry":
		// Not "retrying": that is the wait the CLI itself chose.
		return afterPreposition(rest, now)
	case "avail":
		if after, found := cutWord(rest, "able"); found {
			return afterPreposition(after, now)
		}
	case "wait ":
		return waitPhrase(text, i, rest, now)
	case "reset":
		return resetPhrase(text, i, rest, now)
	case "reple":
		// Azure's API Management: "Quota will be replenished in 02:12:45."
		if after, found := cutWord(rest, "nished"); found {
			return afterPreposition(" "+after, now)
		}
	case "until":
		switch wordBefore(text, i) {
		case "limited", "throttled", "blocked", "paused", "suspended", "exhausted", "unavailable", "locked", "reached", "exceeded", "disabled":
			return atHint(strings.TrimLeft(rest, " \t\n"), now)
		}
	case "regai":
		// Anthropic's API: "You will regain access on 2026-12-01 at 00:00 UTC."
		if after, found := cutFold(rest, "n access"); found {
			return afterPreposition(after, now)
		}
	case "reach":
		// claude 1.x: "usage limit reached|1753088400"
		if after, found := cutFold(rest, "ed|"); found && wordBefore(text, i) == "limit" {
			return momentHint(after, now)
		}
	}
	return Hint{}, false
}

// waitPhrase reads "wait 30 seconds" where it is a request, not the report of a
// wait: "please wait", "need to wait", or at the start of a sentence.
func waitPhrase(text string, i int, rest string, now time.Time) (Hint, bool) {
	switch wordBefore(text, i) {
	case "", "please", "must", "should", "to", "and", "or":
	default:
		return Hint{}, false
	}
	if after, found := cutWord(rest, "until"); found {
		return atHint(after, now)
	}
	if after, found := cutWord(rest, "for"); found {
		rest = after
	}
	return durationHint(skipHedge(strings.TrimLeft(rest, " \t\n")))
}

// resetPhrase reads "resets 3pm", "resets in 4h 12m", "will reset after 34s".
func resetPhrase(text string, i int, rest string, now time.Time) (Hint, bool) {
	switch before := wordBefore(text, i); before {
	case "connection", "connections", "conn", "stream", "socket", "link", "peer", "tcp",
		"session", "password", "was", "were", "been", "be", "got":
		return Hint{}, false // something was reset, nothing will be
	default:
		if before != "" && isDigit(before[len(before)-1]) && !isStatus(text, i, before) {
			return Hint{}, false // a count: "3 resets in 5 minutes"
		}
	}
	if after, found := cutWord(rest, "time"); found { // "reset time: 15:04"
		rest = after
	}
	if after, found := strings.CutPrefix(rest, ":"); found {
		return atHint(strings.TrimLeft(after, " \t"), now)
	}
	plural := rest != "" && lowerByte(rest[0]) == 's'
	if plural {
		rest = rest[1:]
	}
	if h, ok := afterPreposition(rest, now); ok {
		return h, true
	}
	if !plural {
		return Hint{}, false
	}
	after := strings.TrimPrefix(rest, ":")
	if after = strings.TrimLeft(after, " \t\n"); len(after) == len(rest) {
		return Hint{}, false
	}
	return atHint(after, now)
}

// isStatus reports whether the number before i, which is there in the text, is the status of an answer: "HTTP 429 resets in 30s".
func isStatus(text string, i int, number string) bool {
	if len(number) != 3 || number[0] != '4' && number[0] != '5' {
		return false
	}
	switch wordBefore(text, len(strings.TrimRight(text[:strings.LastIndex(text[:i], number)], " \t:="))) {
	case "http", "status", "error", "code":
		return true
	}
	return false
}

// afterPreposition reads "in 17s", "after 20 seconds" or "at 14:05".
func afterPreposition(rest string, now time.Time) (Hint, bool) {
	if after, found := cutWord(rest, "in"); found {
		return spanHint(skipHedge(after))
	}
	if after, found := cutWord(rest, "after"); found {
		if h, ok := durationHint(skipHedge(after)); ok {
			return h, true
		}
		return atHint(after, now)
	}
	for _, word := range [...]string{"at", "on"} {
		if after, found := cutWord(rest, word); found {
			return atHint(strings.TrimLeft(after, ": \t"), now)
		}
	}
	return Hint{}, false
}

// atHint reads a moment or a clock time.
func atHint(s string, now time.Time) (Hint, bool) {
	if h, ok := momentHint(s, now); ok {
		return h, true
	}
	return clockHint(s, now)
}

// skipHedge drops what makes a duration less exact.
func skipHedge(s string) string {
	for _, word := range [...]string{"at least", "about", "approximately", "around", "another"} {
		if after, found := cutWord(s, word); found {
			return after
		}
	}
	return strings.TrimPrefix(s, "~")
}

// cutWord drops white space and a word, and the white space after it. A word
// may continue the stem before it, as "able" does "avail".
func cutWord(s, word string) (string, bool) {
	after, found := cutFold(strings.TrimLeft(s, " \t\n"), word)
	if !found {
		return s, false
	}
	trimmed := strings.TrimLeft(after, " \t\n")
	if after != "" && len(trimmed) == len(after) && after[0] != ':' {
		return s, false
	}
	return trimmed, true
}

func cutFold(s, lower string) (string, bool) {
	if len(s) < len(lower) || !foldEqual(s[:len(lower)], lower) {
		return s, false
	}
	return s[len(lower):], true
}

// wordBefore returns the word in front of i in lower case, or "" if a line or
// sentence begins there.
func wordBefore(text string, i int) string {
	end := i
	for end > 0 && (text[end-1] == ' ' || text[end-1] == '\t') {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && (isNameByte(text[start-1]) || text[start-1] == '\'') {
		start--
	}
	if start < end && escaped(text, start) {
		start++
	}
	return strings.ToLower(text[start:end])
}
