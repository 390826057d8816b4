package config

import (
	"fmt"
	"math"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// reader reads the text of a setting. It is told by at where the value goes.
type reader interface {
	read(s *Settings, text string) error
}

// guard is the reader of a setting that protects: a limit, a ceiling, a check, or what must not be kept. A mistake in the user's file that concerns one is an error;
// any other has no effect.
type guard struct{ reader }

// by is a reader of one setting's own.
type by func(*Settings, string) error

func (f by) read(s *Settings, v string) error { return f(s, v) }

type number struct {
	at        func(*Settings) *int
	low, high int
}

func (r *number) read(s *Settings, v string) error {
	n, err := parseNumber(v, r.low, r.high)
	if err == nil {
		*r.at(s) = n
	}
	return err
}

// parseNumber reads a whole number between bounds.
func parseNumber(v string, low, high int) (int, error) {
	n, err := strconv.Atoi(v)
	if err != nil {
		return 0, message.Error(message.NotWholeNumber(v))
	}
	if n < low || n > high {
		return 0, message.Error(fmt.Sprintf("%d is not between %d and %d", n, low, high))
	}
	return n, nil
}

type duration func(*Settings) *time.Duration

func (at duration) read(s *Settings, v string) (err error) {
	*at(s), err = ParseDuration(v)
	return err
}

// typed is a setting whose type has a parser.
type typed[T any] struct {
	at    func(*Settings) *T
	parse func(string) (T, error)
}

func (r *typed[T]) read(s *Settings, v string) (err error) {
	*r.at(s), err = r.parse(v)
	return err
}

// size is a number of bytes; 0 means none.
type size func(*Settings) *int64

func (at size) read(s *Settings, v string) (err error) {
	if *at(s) = 0; v != "0" {
		*at(s), err = ParseSize(v)
	}
	return err
}

// ParseSize reads 500M, 1.5GB, 2GiB, 100000: units are powers of 1024.
func ParseSize(text string) (int64, error) {
	number, factor := strings.ToUpper(strings.TrimSpace(text)), 1.0
	if bytes, ok := strings.CutSuffix(number, "B"); ok {
		number = strings.TrimSuffix(bytes, "I")
	}
	if i := strings.IndexAny("KMGT", number[max(len(number)-1, 0):]); i >= 0 {
		number, factor = number[:len(number)-1], math.Pow(1024, float64(i+1))
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if err != nil || !(n > 0) || n*factor > math.MaxInt64/2 {
		return 0, message.Error(fmt.Sprintf("%q is not a size, such as 500MB", text))
	}
	return int64(n * factor), nil
}

type boolean func(*Settings) *bool

func (at boolean) read(s *Settings, v string) error {
	switch strings.ToLower(v) {
	case "1", "true", "yes", "on":
		*at(s) = true
	case "", "0", "false", "no", "off":
		*at(s) = false
	default:
		return message.Error(fmt.Sprintf("%q is not true or false", v))
	}
	return nil
}

type text func(*Settings) *string

func (at text) read(s *Settings, v string) error {
	*at(s) = v
	return nil
}

// key is a short word that the user chooses.
type key func(*Settings) *string

func (at key) read(s *Settings, v string) error {
	if strings.TrimSpace(v) == "" || len(v) > 200 || strings.ContainsFunc(v, unicode.IsControl) {
		return message.Error(fmt.Sprintf("%.40q is not a valid key. A key is a word of at most 200 characters", v))
	}
	*at(s) = v
	return nil
}

type choice struct {
	at      func(*Settings) *string
	allowed []string
}

func (r *choice) read(s *Settings, v string) error {
	if !slices.Contains(r.allowed, v) {
		return message.Error(message.NotOneOf(v, r.allowed))
	}
	*r.at(s) = v
	return nil
}

type pattern func(*Settings) *string

func (at pattern) read(s *Settings, v string) error {
	if v == "" {
		return message.Error("an empty pattern matches everything")
	}
	if _, err := syntax.Parse(v, syntax.Perl); err != nil {
		return message.Error(fmt.Sprintf("%q is not a regular expression: %s", v, strings.TrimPrefix(err.Error(), "error parsing regexp: ")))
	}
	*at(s) = v
	return nil
}

func setPreset(s *Settings, v string) error {
	if _, ok := profile.Preset(v); !ok {
		return message.Error(fmt.Sprintf("there is no preset %q. The presets are %s", v, message.And(profile.Presets())))
	}
	s.Preset = v
	return nil
}

func setFactor(s *Settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || f < 1 || f > 1000 {
		return message.Error(message.NotANumber(v, 1, 1000))
	}
	s.Factor = f
	return nil
}

func setCheck(s *Settings, v string) error {
	switch {
	case strings.TrimSpace(v) == "":
		return message.Error("a check needs a command, such as: go test ./...")
	case strings.ContainsRune(v, 0):
		return message.Error("the check contains a NUL byte")
	case strings.Contains(v, "{}"):
		return message.Error("nothing is put in the place of {} in a check. Use $BELAY_TASK_ID, or its stdin")
	}
	s.Check = v
	return nil
}

// setWorktree takes what a tree is made from; true means the commit that is checked out, and false no tree.
func setWorktree(s *Settings, v string) error {
	if on, err := strconv.ParseBool(v); err == nil {
		v = map[bool]string{true: "HEAD"}[on]
	} else if strings.TrimSpace(v) == "" || strings.ContainsFunc(v, unicode.IsControl) {
		return message.Error(fmt.Sprintf("%.40q does not name a commit", v))
	}
	s.Worktree = v
	return nil
}

func setWorktreeSetup(s *Settings, v string) error {
	if strings.TrimSpace(v) == "" || strings.ContainsRune(v, 0) {
		return message.Error("a setup needs a command, such as: npm ci")
	}
	s.WorktreeSetup = v
	return nil
}

// setModel takes the name of a model; true means the one that was asked for, and false any.
func setModel(s *Settings, v string) error {
	if on, err := strconv.ParseBool(v); err == nil {
		v = map[bool]string{true: "asked"}[on] // the engine's word for it
	}
	s.RequireModel = v
	return nil
}

func setCodes(s *Settings, v string) error {
	s.RetryOnExit = nil
	for part := range strings.SplitSeq(v, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 255 {
			return message.Error(message.NotAnExitCode(part, 1, 255))
		}
		s.RetryOnExit = append(s.RetryOnExit, n)
	}
	return nil
}

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

// MaxDuration is the longest that makes sense anywhere: a year and a day.
const MaxDuration = 366 * 24 * time.Hour

// ParseDuration reads 30s, 1h30m, 2d or plain seconds.
func ParseDuration(text string) (time.Duration, error) {
	bad := func(say func(string) string) (time.Duration, error) {
		return 0, message.Error(say(text))
	}
	s := strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case math.IsNaN(seconds) || math.IsInf(seconds, 0):
			return bad(message.NotADuration)
		case seconds < 0:
			return bad(message.NegativeDuration)
		case seconds > MaxDuration.Seconds():
			return bad(message.DurationTooLong)
		}
		return time.Duration(seconds * float64(time.Second)), nil
	}
	var days time.Duration
	if n, rest, ok := strings.Cut(s, "d"); ok {
		if whole, err := strconv.ParseUint(n, 10, 16); err == nil {
			days = time.Duration(whole) * 24 * time.Hour
			if s = rest; s == "" {
				s = "0s"
			}
		}
	}
	d, err := time.ParseDuration(s)
	switch {
	case err != nil:
		return bad(message.NotADuration)
	case d < 0:
		return bad(message.NegativeDuration)
	case days > MaxDuration || d > MaxDuration-days:
		return bad(message.DurationTooLong)
	}
	return days + d, nil
}
