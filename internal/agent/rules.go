package agent

import (
	"iter"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Classes says what the names mean that a CLI, or its service, gives to failures: the names of each class, with spaces in between.
type Classes map[verdict.Class]string

// All are the names with their classes.
func (c Classes) All() iter.Seq2[string, verdict.Class] {
	return func(yield func(string, verdict.Class) bool) {
		for class, names := range c {
			for name := range strings.FieldsSeq(names) {
				if !yield(name, class) {
					return
				}
			}
		}
	}
}

// Of is the class of a name; ok is false if it has none.
func (c Classes) Of(name string) (class verdict.Class, ok bool) {
	for known, class := range c.All() {
		if known == name {
			return class, true
		}
	}
	return "", false
}

// Rules are rules of a CLI about what it says of failures, which are compiled when they are first asked.
type Rules struct {
	Table    []verdict.Rule
	once     sync.Once
	compiled *verdict.Rules
}

// Judge asks the rules, as [verdict.Rules.Judge] does. It panics if they are wrong, which a test of the CLI's folder would show.
func (r *Rules) Judge(o verdict.Outcome, now time.Time) (verdict.Verdict, bool) {
	r.once.Do(func() {
		var err error
		if r.compiled, err = verdict.Compile(r.Table...); err != nil {
			panic(err)
		}
	})
	return r.compiled.Judge(o, now)
}

var colour = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("\x1b\\[[0-9;]*m") })

// WithoutColour is a text without the sequences that make it coloured.
func WithoutColour(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colour().ReplaceAllString(text, "")
}
