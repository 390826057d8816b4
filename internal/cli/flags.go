package cli

import (
	"strings"
)

// textsFlag is one that may be repeated, and whose values are joined by commas.
type textsFlag struct {
	values []string
	kind   string
}

func (f *textsFlag) String() string     { return strings.Join(f.values, ",") }
func (f *textsFlag) Type() string       { return f.kind }
func (f *textsFlag) Set(v string) error { f.values = append(f.values, v); return nil }
