// Package label knows the labels of runs: a name and tags, by which users tell runs apart.
//
// [Labels] come from flags, from the user's file and from the environment. A run passes its own on to what it starts, by
// [NameVar] and [TagVar], so that the runs inside it have them too; what such a run is given itself goes before that. Both
// are bounded, so that they fit into a line of the log.
package label

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/redact"
)

// The environment variables that have the labels of a run: the name, and the tags as in "team=web,env=ci".
const (
	NameVar = "BELAY_NAME"
	TagVar  = "BELAY_TAG"
)

// The bounds of labels, in bytes. All tags together are as long as [Format] writes them.
const (
	maxName  = 100
	maxKey   = 40
	maxValue = 100
	maxTags  = 20
	maxAll   = 1000
)

// Labels are the labels of one run. The zero value has none.
type Labels struct {
	Name string
	Tags map[string]string
}

// CheckName reports whether text can be the name of a run.
func CheckName(text string) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("a name cannot be empty")
	case len(text) > maxName:
		return fmt.Errorf("%s is too long for a name: %d bytes, at most %d", shown(text), len(text), maxName)
	case !plain(text) || strings.TrimSpace(text) != text:
		return fmt.Errorf("%s is not a name: it may have no control characters, and no spaces at its ends", shown(text))
	}
	return nil
}

// CheckTag reports whether there can be a tag of that key and value.
func CheckTag(key, value string) error {
	switch {
	case !IsKey(key):
		return fmt.Errorf("%s is not the key of a tag: up to %d letters, digits and . _ -", shown(key), maxKey)
	case len(value) > maxValue:
		return fmt.Errorf("the value of tag %s is too long: %d bytes, at most %d", key, len(value), maxValue)
	case !plain(value) || strings.TrimSpace(value) != value || strings.Contains(value, ","):
		return fmt.Errorf("%s is not a value for tag %s: it may have no commas and control characters, and no spaces at its ends", shown(value), key)
	}
	return nil
}

// Check reports whether a run can have these labels.
func (l Labels) Check() error {
	if l.Name != "" {
		if err := CheckName(l.Name); err != nil {
			return err
		}
	}
	for _, key := range slices.Sorted(maps.Keys(l.Tags)) {
		if err := CheckTag(key, l.Tags[key]); err != nil {
			return err
		}
	}
	switch all := len(Format(l.Tags)); {
	case len(l.Tags) > maxTags:
		return fmt.Errorf("%d tags are too many: at most %d", len(l.Tags), maxTags)
	case all > maxAll:
		return fmt.Errorf("the tags are too long: %d bytes together, at most %d", all, maxAll)
	}
	return nil
}

// IsKey reports whether text can be the key of a tag.
func IsKey(text string) bool {
	if text == "" || len(text) > maxKey || strings.ContainsAny(text[:1], ".-") {
		return false
	}
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '_' && r != '-'
	})
}

// plain reports whether a text can be shown as it is, in one line.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// shown is a text as a message shows it.
func shown(text string) string { return fmt.Sprintf("%.40q", text) }

// Parse reads tags as they are written on a command line: "team=web", or several with commas between them. One without a
// value is taken away where tags are merged.
func Parse(text string) (map[string]string, error) {
	tags := map[string]string{}
	for one := range strings.SplitSeq(text, ",") {
		key, value, ok := strings.Cut(one, "=")
		if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok {
			return nil, fmt.Errorf("%s is not a tag: write KEY=VALUE, such as team=web", shown(one))
		}
		if err := CheckTag(key, value); err != nil {
			return nil, err
		}
		tags[key] = value
	}
	return tags, nil
}

// List are tags as KEY=VALUE, in the order of their keys.
func List(tags map[string]string) (list []string) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, key+"="+tags[key])
	}
	return list
}

// Format writes tags as [Parse] reads them.
func Format(tags map[string]string) string { return strings.Join(List(tags), ",") }

// String shows labels to users: the name, and the tags behind it.
func (l Labels) String() string {
	list := List(l.Tags)
	if l.Name != "" {
		list = append([]string{l.Name}, list...)
	}
	return strings.Join(list, " ")
}

// Merge are tags with others over them. Those without a value are left out.
func Merge(tags, over map[string]string) map[string]string {
	if len(over) == 0 {
		return tags
	}
	all := maps.Clone(tags)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, over)
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	if len(all) == 0 {
		return nil
	}
	return all
}

// Over are the labels of a run that is started inside one with these others: its own go before those.
func (l Labels) Over(outer Labels) Labels {
	if l.Name == "" {
		l.Name = outer.Name
	}
	l.Tags = Merge(outer.Tags, l.Tags)
	return l
}

// Inherited are the labels that the environment of this process has. What is none is left out.
func Inherited() (l Labels) {
	if name := os.Getenv(NameVar); CheckName(name) == nil {
		l.Name = name
	}
	if text := os.Getenv(TagVar); text != "" {
		tags, err := Parse(text)
		if tags = Merge(nil, tags); err == nil && (Labels{Tags: tags}).Check() == nil {
			l.Tags = tags
		}
	}
	return l
}

// Environ are the variables by which labels are passed on.
func (l Labels) Environ() (env []string) {
	if l.Name != "" {
		env = append(env, NameVar+"="+l.Name)
	}
	if len(l.Tags) > 0 {
		env = append(env, TagVar+"="+Format(l.Tags))
	}
	return env
}

// Redacted are the labels as they may be written: without credentials.
func (l Labels) Redacted() Labels {
	return Labels{Name: redact.Text(l.Name), Tags: RedactedTags(l.Tags)}
}

// RedactedTags are tags without credentials in them.
func RedactedTags(tags map[string]string) map[string]string {
	if len(tags) == 0 {
		return nil
	}
	clean := make(map[string]string, len(tags))
	for key, value := range tags {
		if value = redact.Text(value); value != "" && redact.NamesSecret(key) {
			value = redact.Marker
		}
		clean[redact.Text(key)] = value
	}
	return clean
}

// Project is the directory that work in a directory belongs to: the root of the repository around it, or the directory
// itself.
func Project(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
