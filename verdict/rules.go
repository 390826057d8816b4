package verdict

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/signame"
)

// Rule is one row of a table of failures: when all of its conditions hold, the
// outcome is of its class. Rules are data, in our tables and in users' config
// files.
type Rule struct {
	// Name appears in the verdict. Default: the rule's place, "rule 3".
	Name string `toml:"name"`

	// Class is what the outcome is when the rule matches.
	Class Class `toml:"class"`

	// Exit are the exit codes the rule applies to, and Signal the signals. When
	// both are empty it applies to every failure, death by signal included.
	Exit   []int    `toml:"exit"`
	Signal []string `toml:"signal"`

	// Stream is where Match looks: "stdout", "stderr", or empty for either.
	Stream string `toml:"stream"`

	// Match is a regular expression (RE2) to be found in the output. Case does
	// not matter, ’ and ' are alike, ^ and $ are the ends of a line, and colours
	// are gone. Empty: the output does not matter.
	Match string `toml:"match"`

	// AnyExit applies the rule to exit 0 too, for commands that report failure
	// only in their output. It needs Match and excludes Exit and Signal.
	AnyExit bool `toml:"any_exit"`

	// Retryable overrides the class's default.
	Retryable *bool `toml:"retryable"`
}

// Rules is a table that has been checked. It is safe for use by several
// goroutines, and a nil table abstains.
type Rules struct{ rules []rule }

// rule is a Rule made ready. Its expression is compiled when the text first
// contains what a match cannot do without: of a table, one outcome needs a row
// or two.
type rule struct {
	Rule
	needs
	re func() *regexp.Regexp
}

// Compile checks rules and makes them a table. An error names the rule and what
// is wrong with it.
func Compile(rules ...Rule) (*Rules, error) {
	table := &Rules{rules: make([]rule, 0, len(rules))}
	for i, r := range rules {
		ready, err := compile(r, i+1)
		if err != nil {
			if r.Name != "" {
				return nil, fmt.Errorf("rule %d (%s): %w", i+1, r.Name, err)
			}
			return nil, fmt.Errorf("rule %d: %w", i+1, err)
		}
		table.rules = append(table.rules, ready)
	}
	return table, nil
}

func compile(r Rule, place int) (rule, error) {
	if r.Name == "" {
		r.Name = fmt.Sprintf("rule %d", place)
	}
	if _, err := ParseClass(string(r.Class)); err != nil {
		return rule{}, err
	}
	if r.Class == OK && r.Retryable != nil && *r.Retryable {
		return rule{}, errors.New("class ok cannot be retryable")
	}
	if r.AnyExit && (r.Match == "" || len(r.Exit)+len(r.Signal) > 0) {
		return rule{}, errors.New("any_exit needs match, and neither exit nor signal")
	}
	if r.Stream != "" && r.Stream != "stdout" && r.Stream != "stderr" {
		return rule{}, fmt.Errorf("unknown stream %q (stdout or stderr, or leave it out for either)", r.Stream)
	}
	if r.Stream != "" && r.Match == "" {
		return rule{}, errors.New("stream needs match")
	}
	r.Exit, r.Signal = slices.Clone(r.Exit), slices.Clone(r.Signal)
	for i, s := range r.Signal {
		name, err := signame.Parse(s)
		if err != nil {
			return rule{}, err
		}
		r.Signal[i] = name
	}
	ready := rule{Rule: r}
	if r.Match == "" {
		return ready, nil
	}
	expr := "(?im)" + straightenQuotes(r.Match)
	need, err := analyse(expr)
	if err != nil {
		return rule{}, fmt.Errorf("match: %w", err)
	}
	ready.needs = need
	ready.re = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return ready, nil
}

// Judge asks each rule in turn; the first that matches wins. If none does it
// abstains with false. A class that is retryable or a throttle comes with the
// hint that the output holds.
func (r *Rules) Judge(o Outcome, now time.Time) (Verdict, bool) {
	if r == nil {
		return Verdict{}, false
	}
	stderr := &stream{name: "stderr", excerpt: o.Stderr}
	stdout := &stream{name: "stdout", excerpt: o.Stdout}
	for i := range r.rules {
		rule := &r.rules[i]
		if !rule.appliesTo(o) {
			continue
		}
		v := Verdict{Class: rule.Class, Retryable: rule.Class.Retryable(), Rule: rule.Name}
		if rule.Retryable != nil {
			v.Retryable = *rule.Retryable
		}
		where, other := stderr, stdout // programs complain on stderr
		if rule.re == nil {
			v.Evidence = lastWords(stderr, stdout)
		} else {
			at := rule.find(where)
			if at < 0 {
				where, other = other, where
				at = rule.find(where)
			}
			if at < 0 {
				continue
			}
			v.Evidence = where.evidence(at)
		}
		if v.Retryable || v.Class.Throttle() {
			v.Hint = bestHint(where, other, now)
		}
		return v, true
	}
	return Verdict{}, false
}

func (r *rule) appliesTo(o Outcome) bool {
	if r.AnyExit {
		return true
	}
	if o.Signal != "" {
		// The caller may have spelled the outcome's signal otherwise.
		name, err := signame.Parse(o.Signal)
		if err != nil {
			name = o.Signal
		}
		return slices.Contains(r.Signal, name) || len(r.Signal)+len(r.Exit) == 0
	}
	return slices.Contains(r.Exit, o.ExitCode) ||
		len(r.Signal)+len(r.Exit) == 0 && o.ExitCode != 0
}

// bestHint returns the hint of the stream that the rule matched, or else of
// the other; but a header in either goes before prose.
func bestHint(where, other *stream, now time.Time) Hint {
	h, from := findHint(where.text(), now)
	if from == fromField {
		return h
	}
	if h2, from2 := findHint(other.text(), now); from2 > from {
		return h2
	}
	return h
}
