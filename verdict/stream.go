package verdict

import (
	"slices"
	"strings"
)

// How much evidence a verdict carries.
const (
	evidenceLines = 3
	evidenceBytes = 400
)

// stream is one of an outcome's streams, prepared for matching when a rule
// first looks at it.
type stream struct {
	name    string
	excerpt Excerpt

	read     bool
	plain    string
	straight string // plain, with ' for ’
	lower    string // straight in lower case, byte for byte, as far as it is ASCII
	exotic   bool   // has letters outside ASCII that are equal to k or s but for case
}

func (s *stream) text() string {
	s.prepare()
	return s.plain
}

func (s *stream) prepare() {
	if s.read {
		return
	}
	s.read = true
	s.plain = plain(s.excerpt.Text())
	s.straight = straightenQuotes(s.plain)
	s.lower = lowerASCII(s.straight)
	s.exotic = strings.Contains(s.lower, "\u017f") || strings.Contains(s.lower, "\u212a")
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return string(b)
}

// find returns where in the straight text the rule's expression matches, or -1.
func (r *rule) find(s *stream) int {
	if r.Stream != "" && r.Stream != s.name {
		return -1
	}
	s.prepare()
	if len(r.anyOf) == 0 || s.exotic {
		return start(r.re().FindStringIndex(s.straight))
	}
	for _, literal := range r.anyOf {
		i := strings.Index(s.lower, literal)
		if i < 0 {
			continue
		}
		if !r.oneLine {
			if !containsAll(s.lower, r.allOf) {
				return -1
			}
			return start(r.re().FindStringIndex(s.straight))
		}
		if at := r.findLine(s, literal, i); at >= 0 {
			return at
		}
	}
	return -1
}

// findLine tries the lines that contain the literal, of which the first is at
// i. Package regexp takes some 50 ns a byte for expressions that ignore case;
// looking at nothing but these lines makes that cheap.
func (r *rule) findLine(s *stream, literal string, i int) int {
	for {
		begin := strings.LastIndexByte(s.straight[:i], '\n') + 1
		end := lineEnd(s.straight, i, len(s.straight))
		if containsAll(s.lower[begin:end], r.allOf) {
			if at := start(r.re().FindStringIndex(s.straight[begin:end])); at >= 0 {
				return begin + at
			}
		}
		next := strings.Index(s.lower[end:], literal)
		if next < 0 {
			return -1
		}
		i = end + next
	}
}

func containsAll(s string, all []string) bool {
	return !slices.ContainsFunc(all, func(literal string) bool { return !strings.Contains(s, literal) })
}

func start(match []int) int {
	if match == nil {
		return -1
	}
	return match[0]
}

// evidence returns the line of the match at that place of the straight text, or
// as much of a long line as shows the match.
func (s *stream) evidence(at int) string {
	at = originalOffset(s.plain, at)
	begin := strings.LastIndexByte(s.plain[:at], '\n') + 1
	line := s.plain[begin:lineEnd(s.plain, at, len(s.plain))]
	const lead = evidenceBytes / 4
	if at -= begin; at <= evidenceBytes-lead {
		return cut(showable(line, evidenceBytes), evidenceBytes)
	}
	return cut(ellipsis+showable(line[at-lead:], evidenceBytes), evidenceBytes)
}

// lastWords is the evidence when the output did not matter.
func lastWords(stderr, stdout *stream) string {
	if words := LastLines(stderr.text(), evidenceLines, evidenceBytes); words != "" {
		return words
	}
	return LastLines(stdout.text(), evidenceLines, evidenceBytes)
}
