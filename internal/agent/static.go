package agent

import (
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// The tables of a CLI are laid out by the compiler: a map or a [sync.OnceValue] would be made at every start of belay, whatever it
// is started for.

// Classes says what the names mean that a CLI, or its service, gives to failures.
type Classes []struct {
	Name  string
	Class verdict.Class
}

// Of is the class of that name.
func (c Classes) Of(name string) (class verdict.Class, ok bool) {
	for i := range c {
		if c[i].Name == name {
			return c[i].Class, true
		}
	}
	return "", false
}

// Pattern is a regular expression, which is compiled when it is first used.
type Pattern struct {
	Expr     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Regexp is the expression, compiled. It panics if it cannot be.
func (p *Pattern) Regexp() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.Expr) })
	return p.compiled
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

var colour = Pattern{Expr: "\x1b\\[[0-9;]*m"}

// WithoutColour is a text without the sequences that make it coloured.
func WithoutColour(text string) string {
	if !strings.Contains(text, "\x1b[") {
		return text
	}
	return colour.Regexp().ReplaceAllString(text, "")
}
