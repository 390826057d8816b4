package scenario

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Number is what a number has to be: "3" or "exactly 3", "at most 3", "at least 3". A duration such as "10s" is a number of seconds. The zero value is met by
// any number.
type Number struct {
	text  string
	least *float64
	most  *float64
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Number) UnmarshalText(text []byte) error {
	n.text = string(text)
	rest := n.text
	for words, bounds := range map[string][]**float64{"at most ": {&n.most}, "at least ": {&n.least}, "exactly ": {&n.least, &n.most}} {
		if value, ok := strings.CutPrefix(n.text, words); ok {
			return setBounds(value, bounds...)
		}
	}
	return setBounds(rest, &n.least, &n.most)
}

func setBounds(text string, bounds ...**float64) error {
	value, err := strconv.ParseFloat(text, 64)
	if err != nil {
		d, wrong := time.ParseDuration(text)
		if wrong != nil {
			return fmt.Errorf(`%q is no condition for a number. Write 3, "at most 3", "at least 3" or, for a time, "at most 10s"`, text)
		}
		value = d.Seconds()
	}
	for _, b := range bounds {
		*b = &value
	}
	return nil
}

func (n Number) met(value float64) bool {
	return (n.least == nil || value >= *n.least) && (n.most == nil || value <= *n.most)
}

// IsZero says that nothing is asked.
func (n Number) IsZero() bool { return n.text == "" }

func (n Number) String() string { return n.text }

// Text is what a text has to be: "contains x", "not contains x", "matches REGEX", or all of it. White space at its end does not count. The zero value is met
// by any text.
type Text struct {
	text string
	met  func(string) bool
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (t *Text) UnmarshalText(text []byte) error {
	t.text = string(text)
	word, rest, _ := strings.Cut(t.text, " ")
	switch {
	case strings.HasPrefix(t.text, "not contains "):
		rest = strings.TrimPrefix(t.text, "not contains ")
		t.met = func(s string) bool { return !strings.Contains(s, rest) }
	case word == "contains" && rest != "":
		t.met = func(s string) bool { return strings.Contains(s, rest) }
	case word == "matches" && rest != "":
		re, err := regexp.Compile(rest)
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		t.met = re.MatchString
	default:
		want := strings.TrimRight(t.text, " \t\r\n")
		t.met = func(s string) bool { return strings.TrimRight(s, " \t\r\n") == want }
	}
	return nil
}

// IsZero says that nothing is asked.
func (t Text) IsZero() bool { return t.met == nil }

func (t Text) String() string { return t.text }

// Duration is a time such as "30s".
type Duration time.Duration

// UnmarshalText implements [encoding.TextUnmarshaler].
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err == nil && parsed <= 0 {
		err = fmt.Errorf("%q is not above zero", text)
	}
	*d = Duration(parsed)
	return err
}
