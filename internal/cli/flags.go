package cli

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/label"
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

// tagFlag is --tag of hooks and MCP servers, whose --name is another.
type tagFlag map[string]string

const tagUsage = "label its failures, and the runs inside it, such as team=web; may be repeated"

func (f *tagFlag) String() string { return "" }
func (f *tagFlag) Type() string   { return "KEY=VALUE" }

func (f *tagFlag) Set(text string) error {
	tags, err := label.Parse(text)
	for key, value := range tags {
		if *f == nil {
			*f = tagFlag{}
		}
		(*f)[key] = value
	}
	return err
}

// labels are the tags over what is inherited.
func (f tagFlag) labels() (label.Labels, error) {
	l := label.Labels{Tags: f}.Over(label.Inherited())
	if err := l.Check(); err != nil {
		return l, usage(err, "")
	}
	return l, nil
}

// withoutLabels is an environment without those that it has.
func withoutLabels(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, label.NameVar+"=") || strings.HasPrefix(kv, label.TagVar+"=")
	})
}
