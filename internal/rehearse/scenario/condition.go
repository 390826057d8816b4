package scenario

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is what is expected of a value: a [Number] of a float64, a [Text] of a string.
type condition interface {
	holds(value any) bool
	// seen is the condition that the value meets, as TOML, in the form of this one. Of two runs no times are the same: they are rounded to where the next one
	// will meet it too.
	seen(value any, isTime bool) string
	fmt.Stringer
}

// Number is what a number has to be: "3" or "exactly 3", "at most 3", "at least 3". A duration such as "10s" is a number of seconds. The zero value is met by
// any number.
type Number struct {
	text, words string
	value       float64
}

// UnmarshalText implements [encoding.TextUnmarshaler].
func (n *Number) UnmarshalText(text []byte) (err error) {
	n.text = string(text)
	cut := strings.LastIndex(n.text, " ") + 1
	n.words = n.text[:cut]
	d, notTime := time.ParseDuration(n.text[cut:])
	if n.value = d.Seconds(); notTime != nil {
		n.value, err = strconv.ParseFloat(n.text[cut:], 64)
	}
	if err != nil || math.IsNaN(n.value) || !slices.Contains([]string{"", "at most ", "at least ", "exactly "}, n.words) {
		return fmt.Errorf(`%q is not a condition for a number. Write 3, "at most 3", "at least 3" or, for a time, "at most 10s"`, text)
	}
	return nil
}

func (n Number) holds(value any) bool {
	v := value.(float64)
	return n.text == "" || (n.words == "at most " || v >= n.value) && (n.words == "at least " || v <= n.value)
}

func (n Number) seen(value any, isTime bool) string {
	v := value.(float64)
	text := strconv.FormatFloat(v, 'f', -1, 64)
	switch {
	case isTime && n.words == "at least ":
		text = (time.Duration(v*10) * 100 * time.Millisecond).String()
	case isTime:
		return quote("at most " + (time.Duration(math.Ceil(v)) * time.Second).String())
	case n.words == "":
		return text
	}
	return quote(n.words + text)
}

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
	switch unwanted, not := strings.CutPrefix(t.text, "not contains "); {
	case not:
		t.met = func(s string) bool { return !strings.Contains(s, unwanted) }
	case word == "contains" && rest != "":
		t.met = func(s string) bool { return strings.Contains(s, rest) }
	case word == "matches" && rest != "":
		re, err := regexp.Compile(rest)
		if err != nil {
			return errors.New(strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		t.met = re.MatchString
	default:
		t.met = func(s string) bool { return trimmed(s) == trimmed(t.text) }
	}
	return nil
}

func trimmed(text string) string { return strings.TrimRight(text, " \t\r\n") }

func (t Text) holds(value any) bool {
	text, there := value.(string)
	return t.met == nil || there && t.met(text)
}

// maxSeen is how much of a text is written into a file as all of it. Of a longer one that is the end.
const maxSeen = 1000

func (t Text) seen(value any, _ bool) string {
	text, there := value.(string)
	if text = trimmed(text); len(text) > maxSeen {
		text = "contains " + strings.ToValidUTF8(text[len(text)-maxSeen:], "")
	}
	if !there { // there is no condition for a file that is missing
		return ""
	}
	return quote(text)
}

func (t Text) String() string { return quoted(t.text) }

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
