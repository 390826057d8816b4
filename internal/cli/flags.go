package cli

import (
	"strings"

	"github.com/spf13/pflag"
)

// textFlag is a flag whose help names what it takes.
type textFlag struct {
	to   *string
	kind string
}

func (f *textFlag) String() string     { return *f.to }
func (f *textFlag) Type() string       { return f.kind }
func (f *textFlag) Set(v string) error { *f.to = v; return nil }

// addText adds a flag that takes a text of that kind; its value is where to points, and so is the default.
func addText(flags *pflag.FlagSet, to *string, name, kind, usage string) {
	flags.Var(&textFlag{to, kind}, name, usage)
}

// textsFlag is one that may be repeated, and whose values are joined by commas.
type textsFlag struct {
	values []string
	kind   string
}

func (f *textsFlag) String() string     { return strings.Join(f.values, ",") }
func (f *textsFlag) Type() string       { return f.kind }
func (f *textsFlag) Set(v string) error { f.values = append(f.values, v); return nil }

// listFlag is one that may be repeated.
type listFlag struct {
	to   *[]string
	kind string
}

func (f *listFlag) String() string     { return "" }
func (f *listFlag) Type() string       { return f.kind }
func (f *listFlag) Set(v string) error { *f.to = append(*f.to, v); return nil }
