// Package wording finds what reads badly in messages, help, headings and documents. Tests of the packages that have such texts use it.
package wording

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// maxSentence is how long a sentence may be, in characters.
const maxSentence = 160

// unfit are phrases that read as translated, or name no one.
var unfit = []string{"still runs", "exclude each other", "tries again", "try again (", "as it asks", "look whether", "looks whether", "let go on", "by hand of",
	"somebody", "nobody", "anybody", "whoever", "everybody", " any more", "begins anew", "begin anew", "is not known", "it is started again", "kept trying",
	"not in force", "has passed 100", "all the same", "belong into", "belongs into", "as it should", "of which the", "goes on", "under way", "is to be", "are to be",
	"says no ", "left alone", "was let in"}

var (
	clockTime = regexp.MustCompile(`\d\d:\d\d(:\d\d)?`)
	duration  = regexp.MustCompile(`\b\d+(\.\d+)?(ms|s|m|h)\b`)
	advice    = regexp.MustCompile(`(?i)(\bto [a-z ]+(: |, use )|\bsee: |\bcontinue with: |\bretry later|\bset one: |\bleave out --|\buse --|\bcheck first)`)
	className = regexp.MustCompile(`\b[a-z]+_[a-z]+\b`)
	isNo      = regexp.MustCompile(`(?i)\b(?:(\w+) )?(?:is|are) no (\w+)`)
)

// Message says what is wrong with a message: what [Text] finds, a time or an advice twice, a chain of clauses, the name of a class.
func Message(text string) (faults []string) {
	faults = Text(text)
	add := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if n := len(clockTime.FindAllString(text, -1)); n > 1 {
		add("%d times", n)
	}
	seen := map[string]bool{}
	for _, d := range duration.FindAllString(text, -1) {
		if seen[d] {
			add("%s twice", d)
		}
		seen[d] = true
	}
	if list := advice.FindAllString(text, -1); len(list) > 1 && !(len(list) == 2 && strings.Contains(text, "Check first, or use --")) {
		add("advice %q", list)
	}
	if strings.Contains(strings.TrimLeft(text, " "), "  ") || strings.Contains(text, "..") {
		add("a double space or full stop")
	}
	if strings.Count(text, "; ") > 1 {
		add("a chain of clauses")
	}
	if class := className.FindString(text); class != "" && slices.Contains(verdict.Classes(), verdict.Class(class)) {
		add("the class %s", class)
	}
	return faults
}

// Text says what is wrong with any text for people: sentences that are too long, phrases that read as translated. A paragraph may be
// wrapped; lines that are indented are paragraphs of their own.
func Text(text string) (faults []string) {
	for _, p := range paragraphs(text) {
		for sentence := range strings.SplitSeq(p, ". ") {
			if n := len([]rune(sentence)); n > maxSentence {
				faults = append(faults, fmt.Sprintf("a sentence of %d characters: %s", n, sentence))
			}
		}
		faults = append(faults, Phrases(p)...)
	}
	return faults
}

// Phrases finds phrases that read as translated.
func Phrases(text string) (faults []string) {
	lower := strings.ToLower(text)
	for _, phrase := range unfit {
		if strings.Contains(lower, phrase) {
			faults = append(faults, fmt.Sprintf("%q in: %s", phrase, text))
		}
	}
	for _, m := range isNo.FindAllStringSubmatch(text, -1) {
		if !strings.EqualFold(m[1], "there") && m[2] != "longer" {
			faults = append(faults, fmt.Sprintf("%q in: %s", m[0], text))
		}
	}
	return faults
}

// paragraphs joins the lines of a text that were wrapped.
func paragraphs(text string) (list []string) {
	joined := false
	for line := range strings.SplitSeq(text, "\n") {
		switch plain := strings.TrimSpace(line); {
		case plain == "":
			joined = false
		case joined && plain == line:
			list[len(list)-1] += " " + plain
		default:
			list = append(list, plain)
			joined = plain == line
		}
	}
	return list
}
