package config

import (
	"fmt"
	"os"
	"strconv"
)

// vendorVar is an environment variable of another tradition that stands for one of our settings.
type vendorVar struct {
	name, value string
	convert     func(string) (string, error)
}

func (v vendorVar) read() (string, error) {
	if v.convert == nil {
		return v.value, nil
	}
	return v.convert(v.value)
}

// claudeVars are those that scripts around claude have long used. CLAUDE_MAX_RETRIES counts attempts, and so cannot be 0.
var claudeVars = []struct {
	name, setting string
	convert       func(string) (string, error)
}{
	{"CLAUDE_MAX_RETRIES", "max-retries", func(v string) (string, error) {
		n, err := strconv.Atoi(v)
		if err != nil || n < 1 {
			return "", fmt.Errorf("%q is not a number of attempts; it counts the first one too, so at least 1", v)
		}
		return strconv.Itoa(n - 1), nil
	}},
	{"CLAUDE_BASE_DELAY", "base-delay", nil},
	{"CLAUDE_MAX_DELAY", "max-delay", nil},
	{"CLAUDE_JITTER_FACTOR", "jitter", func(v string) (string, error) { return "proportional:" + v, nil }},
	{"CLAUDE_LOG_DIR", "log-dir", nil},
}

// vendorEnviron is what the environment says of a profile's settings in its own words, by setting.
func vendorEnviron(profile string) map[string]vendorVar {
	if profile != "claude" {
		return nil
	}
	found := map[string]vendorVar{}
	for _, v := range claudeVars {
		if value := os.Getenv(v.name); value != "" {
			found[v.setting] = vendorVar{v.name, value, v.convert}
		}
	}
	return found
}
