package rehearse

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// namedSteps are the steps that have a name; a status is one by itself.
var namedSteps = map[string]func(*Step){
	"hang":           func(s *Step) { s.Before = Hang },
	"reset":          func(s *Step) { s.Before = Reset },
	"refuse":         func(s *Step) { s.Before, s.Times = Refuse, 0 },
	"lost":           func(s *Step) { s.Before = Lost },
	"primary":        func(s *Step) { s.Limit, s.Resets = primary, time.Hour },
	"secondary":      func(s *Step) { s.Limit = secondary },
	"garbage":        func(s *Step) { s.Before = Garbage },
	"slow":           func(s *Step) { s.Over = 2 * time.Second },
	"tool":           func(*Step) {},
	"orphan-tool":    func(s *Step) { s.Poison, s.Tool, s.ToolInput = poisonOrphan, "bash", "true" },
	"image":          func(s *Step) { s.Poison, s.Tool = poisonImage, "bash" },
	"usage-limit":    func(s *Step) { s.UsageLimit, s.Resets, s.Window = true, 5*time.Hour, "5h" },
	"overloaded":     func(s *Step) { s.Overloaded = true },
	"drop-mid":       func(s *Step) { s.Cut = CutDrop },
	"end-mid":        func(s *Step) { s.Cut = CutEnd },
	"hang-mid":       func(s *Step) { s.Cut = CutHang },
	"garbage-mid":    func(s *Step) { s.Cut = CutGarbage },
	"overloaded-mid": func(s *Step) { s.Cut = CutOverloaded },
	"error-mid":      func(s *Step) { s.Cut = CutError },
	"limit":          func(s *Step) { s.Times = 0 },
	"mix":            func(s *Step) { s.Times = 0 },
}

// positional are the values that stand without a name.
var positional = map[string]func(*Step, string) error{
	"slow": func(s *Step, v string) error { return setDuration(&s.Over, v) },
	"refuse": func(s *Step, v string) error {
		s.Times = 1
		return setDuration(&s.For, v)
	},
	"lost": func(s *Step, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil || n < 300 || n > 599 {
			return message.Error(fmt.Sprintf("%q is not the status of an error", v))
		}
		s.Status = n
		return nil
	},
	"image": func(_ *Step, v string) error { return oneOf(new(string), v, "too-large") },
	"limit": setRate,
	"mix":   setShare,
}

// The values of Step.Limit.
const primary, secondary = "primary", "secondary"

// answerOptions are the options of every step that answers.
var answerOptions = map[string]func(*Step, string) error{
	"after":       func(s *Step, v string) error { return setDuration(&s.After, v) },
	"over":        func(s *Step, v string) error { return setDuration(&s.Over, v) },
	"text":        func(s *Step, v string) error { s.Text = v; return nil },
	"stop":        func(s *Step, v string) error { s.Stop = v; return nil },
	"model":       func(s *Step, v string) error { s.Model = v; return nil },
	"in":          func(s *Step, v string) error { return setCount(&s.Usage.Input, v) },
	"out":         func(s *Step, v string) error { return setCount(&s.Usage.Output, v) },
	"cache-read":  func(s *Step, v string) error { return setCount(&s.Usage.CacheRead, v) },
	"cache-write": func(s *Step, v string) error { return setCount(&s.Usage.CacheCreate, v) },
	"type":        func(s *Step, v string) error { s.Type = v; return nil },
	"code":        func(s *Step, v string) error { s.Code = v; return nil },
	"message":     func(s *Step, v string) error { s.Message = v; return nil },
	"body":        func(s *Step, v string) error { s.Body = &v; return nil },
	"used":        setWindow(false),
	"fill":        setWindow(true),
	"retry-after": setRetryAfter,
	"then": func(s *Step, v string) error {
		return oneOf((*string)(&s.Cut), v, string(CutDrop), string(CutEnd), string(CutHang), string(CutGarbage), string(CutOverloaded), string(CutError))
	},
	"at": func(s *Step, v string) error {
		return oneOf((*string)(&s.At), v, string(InText), string(AtStart), string(AfterBlock))
	},
	"ping": func(s *Step, v string) error { return setDuration(&s.Ping, v) },
}

// ownOptions are those that one step has beside, or instead of, the ones above.
var ownOptions = map[string]map[string]func(*Step, string) error{
	"usage-limit": {
		"resets": setResets,
		"window": func(s *Step, v string) error { return oneOf(&s.Window, v, "5h", "7d") },
		"plan":   func(s *Step, v string) error { s.Plan = v; return nil },
	},
	"primary": {"resets": setResets},
	"tool":    {"calls": setCalls},
	"limit": {
		"retry-after": func(s *Step, v string) error {
			if s.Rate == nil {
				return errNoRate
			}
			return oneOf(&s.Rate.RetryAfter, v, "seconds", "date", "none")
		},
	},
	"mix": {
		"seed": func(s *Step, v string) (err error) {
			if s.Mix == nil {
				return errNoShare
			}
			if s.Mix.Seed, err = strconv.ParseUint(v, 10, 64); err != nil {
				err = message.Error(fmt.Sprintf("%q is not a whole number", v))
			}
			return err
		},
		"of": func(s *Step, v string) error {
			if s.Mix == nil {
				return errNoShare
			}
			s.Mix.of = v
			return nil
		},
	},
}

var (
	errNoRate  = message.Error("limit takes its rate first, as in limit(20/6s)")
	errNoShare = message.Error("mix takes its share first, as in mix(5%, seed=1)")
)

func setResets(s *Step, v string) error { return setDuration(&s.Resets, v) }

// defaultMix are the faults of a mix that names none: those that a client can recover from by a retry.
const defaultMix = "429(retry-after=1), 500, overloaded, reset, drop-mid, overloaded-mid"

// option is what sets an option of a step; nil if it has none of that name.
func option(word, name string) func(*Step, string) error {
	set := ownOptions[word][name]
	if set == nil && takesAnswerOptions(word) {
		set = answerOptions[name]
	}
	return set
}

// nearOption is the option of a step that was probably meant by a name; empty if none is near. Two edits are the most, so that retry-after-ms and other headers
// that vendors send are not taken for a mistake.
func nearOption(word, name string) string {
	names := slices.Collect(maps.Keys(ownOptions[word]))
	if takesAnswerOptions(word) {
		names = slices.AppendSeq(names, maps.Keys(answerOptions))
	}
	slices.Sort(names)
	near := message.Nearest(name, names)
	if len(name) > len(near)+2 || len(near) > len(name)+2 {
		return ""
	}
	return near
}

// setOption sets one option. A name with a dash that is no option, and not near to one, is a header's.
func (s *scanner) setOption(step *Step, word, name, value string, nameAt, valueAt int) error {
	set, near := option(word, name), ""
	if set == nil {
		near = nearOption(word, name)
	}
	switch {
	case set != nil:
	case (step.Before == Hang || step.Before == Reset || step.Before == Garbage) && name == "after":
		set = answerOptions[name]
	case takesAnswerOptions(word) && strings.Contains(name, "-") && (near == "" || name != strings.ToLower(name)):
		set = func(step *Step, value string) error { return setHeader(step, name, value) }
	case takesAnswerOptions(word) && strings.Contains(name, "-"):
		return s.errorAt(nameAt, message.Sentences(fmt.Sprintf("%s has no option %q; did you mean %s", word, name, near)+"?", fmt.Sprintf("a header of that name is written in quotes: %q=…", name)))
	default:
		return s.errorAt(nameAt, fmt.Sprintf("%s has no option %q%s", word, name, message.DidYouMean(near)))
	}
	if name == "of" {
		s.ofAt = valueAt
	}
	if err := set(step, value); err != nil {
		return s.errorAt(valueAt, err.Error())
	}
	return nil
}

func takesAnswerOptions(word string) bool {
	switch word {
	case "hang", "reset", "refuse", "garbage", "mix":
		return false
	}
	return true
}

// check finds what is missing or does not go together once a step is whole.
func (s *scanner) check(step *Step, word string, at int) error {
	switch {
	case word == "tool" && step.Tool == "":
		return s.errorAt(at, message.ToolForm())
	case word == "limit" && step.Rate == nil:
		return s.errorAt(at, errNoRate.Error())
	case word == "mix" && step.Mix == nil:
		return s.errorAt(at, errNoShare.Error())
	case step.Cut != CutNone && step.Status >= 300:
		return s.errorAt(at, "only a good answer can be cut")
	case step.Mix != nil:
		return s.faults(step.Mix)
	}
	return nil
}

func setHeader(s *Step, name, value string) error {
	if i := strings.IndexFunc(name, func(r rune) bool { return r > '~' || !isWord(byte(r)) }); i >= 0 {
		return message.Error(fmt.Sprintf("%q is not the name of a header", name))
	}
	if strings.ContainsAny(value, "\r\n") {
		return message.Error(message.HeaderOneLine())
	}
	if s.Header == nil {
		s.Header = http.Header{}
	}
	s.Header.Add(textproto.CanonicalMIMEHeaderKey(name), value)
	return nil
}

// setRetryAfter takes seconds, `date+2s`, or any text.
func setRetryAfter(s *Step, v string) error {
	if in, ok := strings.CutPrefix(v, "date+"); ok {
		s.RetryAfter.Date = true
		return setDuration(&s.RetryAfter.In, in)
	}
	if strings.ContainsAny(v, "\r\n") {
		return message.Error(message.HeaderOneLine())
	}
	s.RetryAfter.Seconds = v
	return nil
}

// setRate reads 20/6s.
func setRate(s *Step, v string) error {
	n, window, ok := strings.Cut(v, "/")
	count, err := strconv.Atoi(strings.TrimSpace(n))
	rate := &Rate{Requests: count, RetryAfter: "seconds"}
	if !ok || err != nil || count < 1 || setDuration(&rate.Window, strings.TrimSpace(window)) != nil || rate.Window <= 0 {
		return message.Error(fmt.Sprintf("%q is not a rate, such as 20/6s", v))
	}
	s.Rate = rate
	return nil
}

// setShare reads 5%.
func setShare(s *Step, v string) error {
	s.Mix = &Mix{Seed: 1, of: defaultMix}
	return setPercent(&s.Mix.Share, v, 100)
}

// setPercent reads a share of up to so many percent.
func setPercent(share *float64, v string, most float64) error {
	digits, ok := strings.CutSuffix(v, "%")
	n, err := strconv.ParseFloat(digits, 64)
	if !ok || err != nil || !(n >= 0 && n <= most) {
		return message.Error(fmt.Sprintf("%q is not a share, such as 5%%", v))
	}
	*share = n / 100
	return nil
}

// faults reads what a mix is of, and points into it if it is wrong.
func (s *scanner) faults(m *Mix) error {
	script, err := Parse(m.of)
	if inner, ok := errors.AsType[*SyntaxError](err); ok {
		return s.errorAt(min(s.ofAt+1+inner.Offset, len(s.text)), inner.Reason)
	}
	for i := range script.Steps {
		if !repeatable(&script.Steps[i]) {
			return s.errorAt(s.ofAt, script.Steps[i].Source+" cannot be part of a mix")
		}
	}
	m.Faults = script.Steps
	return nil
}

// setDuration takes 2s, 3h, 7d or plain seconds.
func setDuration(d *time.Duration, v string) error {
	if n, err := strconv.ParseFloat(v, 64); err == nil {
		v = strconv.FormatFloat(n, 'f', -1, 64) + "s"
	} else if days, ok := strings.CutSuffix(v, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil {
			v = strconv.FormatFloat(n*24, 'f', -1, 64) + "h"
		}
	}
	parsed, err := time.ParseDuration(v)
	if err != nil || parsed < 0 {
		return message.Error(fmt.Sprintf("%q is not a time, such as 2s, 3h or 7d", v))
	}
	*d = parsed
	return nil
}

func setCount(n *int, v string) error {
	parsed, err := strconv.Atoi(v)
	if err != nil || parsed < 0 || parsed > math.MaxInt32 {
		return message.Error(fmt.Sprintf("%q is not a number of tokens", v))
	}
	*n = parsed
	return nil
}

func setCalls(s *Step, v string) (err error) {
	if s.Calls, err = strconv.Atoi(v); err != nil || s.Calls < 1 || s.Calls > 1000 {
		return message.Error(fmt.Sprintf("%q is not a number of calls from 1 to 1000", v))
	}
	return nil
}

func oneOf(to *string, v string, all ...string) error {
	if !slices.Contains(all, v) {
		return message.Error(message.NotOneOf(v, all))
	}
	*to = v
	return nil
}
