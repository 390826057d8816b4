package verdict

import (
	"errors"
	"fmt"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"
)

// needs is what can be told of an expression's matches without running it.
// Literals are in lower case.
type needs struct {
	anyOf   []string // every match contains one of these; empty if none are known
	allOf   []string // and all of these
	oneLine bool     // no match contains or looks across a line break
}

// analyse parses an expression. It is what finds users' mistakes; compiling what
// has been parsed cannot fail.
func analyse(expr string) (needs, error) {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		if e, ok := errors.AsType[*syntax.Error](err); ok {
			// Show what the user wrote, not what we put before it.
			err = fmt.Errorf("%s in `%s`", e.Code, strings.TrimPrefix(e.Expr, "(?im)"))
		}
		return needs{}, err
	}
	return needs{anyOf: anyOf(re), allOf: allOf(re), oneLine: withinLine(re)}, nil
}

const (
	minLiteral  = 3  // shorter ones are in every text
	maxLiterals = 16 // more are not cheaper than the expression
)

// anyOf returns texts of which every match contains at least one.
func anyOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if s := longestASCII(re.Rune); len(s) >= minLiteral {
			return []string{s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return anyOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return anyOf(re.Sub[0])
		}
	case syntax.OpConcat:
		var best []string
		for _, sub := range re.Sub {
			if l := anyOf(sub); shortest(l) > shortest(best) {
				best = l
			}
		}
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			l := anyOf(sub)
			if l == nil || len(all)+len(l) > maxLiterals {
				return nil
			}
			all = append(all, l...)
		}
		return all
	}
	return nil
}

// allOf returns texts all of which every match contains. They are looked for in
// one line at a time, so that two letters already tell something.
func allOf(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpLiteral:
		if s := longestASCII(re.Rune); len(s) >= 2 {
			return []string{s}
		}
	case syntax.OpCapture, syntax.OpPlus:
		return allOf(re.Sub[0])
	case syntax.OpConcat:
		var all []string
		for _, sub := range re.Sub {
			all = append(all, allOf(sub)...)
		}
		return all
	}
	return nil
}

// longestASCII returns the longest run of ASCII in lower case. Outside ASCII
// there is more to case than two forms.
func longestASCII(runes []rune) string {
	var best string
	for _, run := range strings.FieldsFunc(string(runes), func(r rune) bool { return r >= utf8.RuneSelf }) {
		if len(run) > len(best) {
			best = run
		}
	}
	return lowerASCII(best)
}

func shortest(all []string) int {
	if len(all) == 0 {
		return 0
	}
	n := len(all[0])
	for _, s := range all {
		n = min(n, len(s))
	}
	return n
}

// withinLine reports whether what matches in a text also matches in one of its
// lines alone, and the other way round.
func withinLine(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar, syntax.OpBeginText, syntax.OpEndText:
		return false
	case syntax.OpLiteral:
		return !strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return false
			}
		}
	}
	return !slices.ContainsFunc(re.Sub, func(sub *syntax.Regexp) bool { return !withinLine(sub) })
}
