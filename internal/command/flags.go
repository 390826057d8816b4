package command

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// MemoryFlag is a limit of memory where it is no setting.
type MemoryFlag int64

func (f *MemoryFlag) String() string { return "" }
func (f *MemoryFlag) Type() string   { return "SIZE" }

func (f *MemoryFlag) Set(text string) error {
	n, err := config.ParseSize(text)
	if err == nil && !supervise.MemoryLimits() {
		err = message.Error(message.MemoryUntold())
	}
	*f = MemoryFlag(n)
	return err
}

// textFlag is a flag whose help names what it takes.
type textFlag struct {
	to   *string
	kind string
}

func (f *textFlag) String() string     { return *f.to }
func (f *textFlag) Type() string       { return f.kind }
func (f *textFlag) Set(v string) error { *f.to = v; return nil }

// TextValue is the value of a flag that takes a text of that kind.
func TextValue(to *string, kind string) pflag.Value { return &textFlag{to, kind} }

// AddText adds a flag that takes a text of that kind; its value is where to points, and so is the default.
func AddText(flags *pflag.FlagSet, to *string, name, kind, usage string) {
	flags.Var(TextValue(to, kind), name, usage)
}

// listFlag is one that may be repeated.
type listFlag struct {
	to   *[]string
	kind string
}

func (f *listFlag) String() string     { return "" }
func (f *listFlag) Type() string       { return f.kind }
func (f *listFlag) Set(v string) error { *f.to = append(*f.to, v); return nil }

// ListValue is the value of a flag that may be repeated, and whose values are of that kind.
func ListValue(to *[]string, kind string) pflag.Value { return &listFlag{to, kind} }

// TagFlag is --tag of hooks and MCP servers, whose --name is another.
type TagFlag map[string]string

// TagUsage is its help.
const TagUsage = "label its failures, and the runs inside it, such as team=web; may be repeated"

func (f *TagFlag) String() string { return "" }
func (f *TagFlag) Type() string   { return "KEY=VALUE" }

func (f *TagFlag) Set(text string) error {
	tags, err := label.Parse(text)
	for key, value := range tags {
		if *f == nil {
			*f = TagFlag{}
		}
		(*f)[key] = value
	}
	return err
}

// Labels are the tags over what is inherited.
func (f TagFlag) Labels() (label.Labels, error) {
	l := label.Labels{Tags: f}.Over(label.Inherited())
	if err := l.Check(); err != nil {
		return l, Usage(err, "")
	}
	return l, nil
}

// WithoutLabels is an environment without those that it has.
func WithoutLabels(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		return strings.HasPrefix(kv, label.NameVar+"=") || strings.HasPrefix(kv, label.TagVar+"=")
	})
}

// GroupKey is the annotation that puts a flag under a heading.
const GroupKey = "group"

// DurationValue is the value of a flag that takes a duration.
func DurationValue(to *time.Duration) pflag.Value { return &durationFlag{to} }

// durationFlag reads a duration as all of belay does.
type durationFlag struct{ d *time.Duration }

func (f *durationFlag) String() string { return "" }
func (f *durationFlag) Type() string   { return "D" }

func (f *durationFlag) Set(text string) (err error) {
	*f.d, err = config.ParseDuration(text)
	return err
}
