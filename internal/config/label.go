package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
)

// setName reads the name of a run.
func setName(s *Settings, v string) error {
	s.Name = v
	return label.CheckName(v)
}

// setTags reads tags. Those of a nearer layer go before those of the same keys in the others; one without a value takes the tag
// away.
func setTags(s *Settings, v string) error {
	tags, err := label.Parse(v)
	s.Tags = label.Merge(s.Tags, tags)
	return err
}

// tagList are the tags of a table in a file, as a list of KEY=VALUE.
func tagList(table map[string]any) (list []any) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		value, err := flat(table[key])
		if _, isList := table[key].([]any); err != nil || isList {
			return []any{table[key]} // which is no tag
		}
		list = append(list, key+"="+value)
	}
	return list
}

// checkTag reports whether a text is one tag.
func checkTag(text string) error {
	tags, err := label.Parse(text)
	if err == nil && (len(tags) != 1 || strings.HasSuffix(text, "=")) {
		err = message.Error(fmt.Sprintf("%q is not KEY=VALUE", text))
	}
	return err
}
