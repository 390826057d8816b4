package engine

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/retry"
)

// FromEnv returns c with what the environment, which is c.Env or the caller's, says in the variables that scripts around
// claude have long used:
//
//	CLAUDE_MAX_RETRIES    how many attempts there may be, the first one too; at least 1
//	CLAUDE_BASE_DELAY     the wait before the first retry, as 30s or in plain seconds
//	CLAUDE_MAX_DELAY      the longest wait before a retry
//	CLAUDE_JITTER_FACTOR  by which part of itself a wait may be longer or shorter, as 0.2
//	CLAUDE_LOG_DIR        where claude's own log goes; none for nowhere
//
// They are not read unless FromEnv is called. What c.Runner says itself holds. The error is a [*UsageError] that names the
// variable.
func (c Claude) FromEnv() (Claude, error) {
	vars := claudeVars(c.Env)
	if len(vars) == 0 {
		return c, nil
	}
	own := c.Runner.Policy
	counted := own.MaxRetries != 0 || own.CountThrottles
	p := own
	if !counted {
		p, _ = retry.Preset("claude")
		p.Timeout, p.TotalTimeout, p.MaxWait = own.Timeout, own.TotalTimeout, own.MaxWait
		p.BaseDelay, p.MaxDelay, p.Jitter = cmp.Or(own.BaseDelay, p.BaseDelay), cmp.Or(own.MaxDelay, p.MaxDelay), cmp.Or(own.Jitter, p.Jitter)
	}
	var err error
	read := func(name string, given bool, set func(text string) error) {
		if text := vars[name]; text != "" && !given && err == nil {
			if wrong := set(text); wrong != nil {
				err = &UsageError{fmt.Errorf("%s: %w", name, wrong)}
			}
		}
	}
	read("CLAUDE_MAX_RETRIES", counted, func(text string) error { return setAttempts(&p, text) })
	read("CLAUDE_BASE_DELAY", own.BaseDelay != 0, func(text string) error { return setDelay(&p.BaseDelay, text) })
	read("CLAUDE_MAX_DELAY", own.MaxDelay != 0, func(text string) error { return setDelay(&p.MaxDelay, text) })
	read("CLAUDE_JITTER_FACTOR", own.Jitter != retry.Jitter{}, func(text string) (err error) {
		p.Jitter, err = retry.ParseJitter("proportional:" + text)
		return err
	})
	read("CLAUDE_LOG_DIR", c.Runner.LogDir != "", func(text string) error {
		c.Runner.LogDir = text
		return nil
	})
	c.Runner.Policy = p
	return c, err
}

// claudeVars are those of the variables that are set to anything.
func claudeVars(env []string) map[string]string {
	if env == nil {
		env = os.Environ()
	}
	vars := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch name {
		case "CLAUDE_MAX_RETRIES", "CLAUDE_BASE_DELAY", "CLAUDE_MAX_DELAY", "CLAUDE_JITTER_FACTOR", "CLAUDE_LOG_DIR":
			if delete(vars, name); value != "" { // the last one counts, as everywhere
				vars[name] = value
			}
		}
	}
	return vars
}

// setAttempts reads a number of attempts. It counts every one, as who gives a number expects.
func setAttempts(p *retry.Policy, text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a number of attempts; it counts the first one too, so at least 1", text)
	}
	p.MaxRetries, p.CountThrottles = n-1, true
	if n == 1 {
		p.MaxRetries = retry.None
	}
	return nil
}

// setDelay reads a duration or a number of seconds. None at all is the shortest there is: 0 would mean the default.
func setDelay(to *time.Duration, text string) error {
	d, err := time.ParseDuration(text)
	if seconds, notSeconds := strconv.ParseFloat(text, 64); notSeconds == nil {
		d, err = time.Duration(min(seconds*float64(time.Second), math.MaxInt64/2)), nil
		if math.IsNaN(seconds) {
			d = -1
		}
	}
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration; write 30s, 5m or plain seconds", text)
	}
	*to = max(d, 1)
	return nil
}
