package cli

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/label"
)

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
