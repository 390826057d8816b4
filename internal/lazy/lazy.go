// Package lazy has values that are made when they are first asked for. A variable of the package costs nothing at the start of
// the program: the linker lays it out, where sync.OnceValue would allocate. Belay starts once for every command that it runs.
package lazy

import (
	"regexp"
	"sync"
)

// Value is a value that Make makes once, when it is first asked for.
type Value[T any] struct {
	Make  func() T
	once  sync.Once
	value T
}

// Get is the value.
func (v *Value[T]) Get() T {
	v.once.Do(func() { v.value = v.Make() })
	return v.value
}

// Pattern is a regular expression that is compiled when it is first asked for.
type Pattern struct {
	text     string
	once     sync.Once
	compiled *regexp.Regexp
}

// Regexp is the pattern of an expression, which must be right.
func Regexp(text string) *Pattern { return &Pattern{text: text} }

// Get is the compiled expression.
func (p *Pattern) Get() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}
