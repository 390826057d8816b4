package config

import (
	"fmt"
	"math"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/belay-run/belay/internal/budget"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/retry"
)

// The functions below make readers of a setting's text. at says where the value goes.

func number(at func(*Settings) *int, low, high int) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		n, err := strconv.Atoi(v)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", v)
		}
		if n < low || n > high {
			return fmt.Errorf("%d is not between %d and %d", n, low, high)
		}
		*at(s) = n
		return nil
	}
}

func duration(at func(*Settings) *time.Duration) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		d, err := ParseDuration(v)
		*at(s) = d
		return err
	}
}

func boolean(at func(*Settings) *bool) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		switch strings.ToLower(v) {
		case "1", "true", "yes", "on":
			*at(s) = true
		case "", "0", "false", "no", "off":
			*at(s) = false
		default:
			return fmt.Errorf("%q is neither true nor false", v)
		}
		return nil
	}
}

func text(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		*at(s) = v
		return nil
	}
}

// name takes a key: a short word that the user chooses.
func name(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if strings.TrimSpace(v) == "" || len(v) > 200 || strings.ContainsFunc(v, unicode.IsControl) {
			return fmt.Errorf("%.40q is not a key: a word of at most 200 characters", v)
		}
		*at(s) = v
		return nil
	}
}

func choice(at func(*Settings) *string, allowed ...string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		for _, a := range allowed {
			if v == a {
				*at(s) = v
				return nil
			}
		}
		return fmt.Errorf("%q is not %s", v, strings.Join(allowed, " or "))
	}
}

func pattern(at func(*Settings) *string) func(*Settings, string) error {
	return func(s *Settings, v string) error {
		if v == "" {
			return fmt.Errorf("an empty pattern matches everything")
		}
		if _, err := syntax.Parse(v, syntax.Perl); err != nil {
			return fmt.Errorf("%q is not a regular expression: %v", v, strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
		*at(s) = v
		return nil
	}
}

func setPreset(s *Settings, v string) error {
	if _, ok := profile.Preset(v); !ok {
		return fmt.Errorf("there is no preset %q; there are %s", v, strings.Join(profile.Presets(), ", "))
	}
	s.Preset = v
	return nil
}

func setFactor(s *Settings, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || math.IsNaN(f) || f < 1 || f > 1000 {
		return fmt.Errorf("%q is not a number between 1 and 1000", v)
	}
	s.Factor = f
	return nil
}

func setCost(s *Settings, v string) error {
	f, err := budget.ParseUSD(v)
	s.MaxCost = f
	return err
}

func setJitter(s *Settings, v string) error {
	j, err := retry.ParseJitter(v)
	s.Jitter = j
	return err
}

func setCodes(s *Settings, v string) error {
	s.RetryOnExit = nil
	for part := range strings.SplitSeq(v, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 1 || n > 255 {
			return fmt.Errorf("%q is not an exit code from 1 to 255", part)
		}
		s.RetryOnExit = append(s.RetryOnExit, n)
	}
	return nil
}
