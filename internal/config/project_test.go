package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// policyOf is the policy of commands of a profile.
func policyOf(t *testing.T, given config.Given, profile string) (retry.Policy, *config.Settings) {
	t.Helper()
	s, _, err := config.Load(given, profile)
	must.OK(t, err)
	return s.Policy(profile, profile != "generic"), s
}

// A project's file lowers limits and slows down, and nothing else. What it may not do is ignored with its reason.
func TestProject_OnlyBounds(t *testing.T) {
	tests := map[string]struct {
		user, project string
		given         config.Given
		profile       string
		holds         func(p retry.Policy, s *config.Settings) bool
		ignored       string // empty if all of it takes effect
	}{
		"fewer retries":              {project: "max_retries = 2", profile: "claude", holds: func(p retry.Policy, _ *config.Settings) bool { return p.MaxRetries == 2 && p.CountThrottles }},
		"more retries":               {project: "max_retries = 9", profile: "claude", holds: func(p retry.Policy, _ *config.Settings) bool { return p.MaxRetries == 4 }, ignored: ":1: max_retries is ignored: a project's file may only lower it, and it is 4 (preset claude)"},
		"fewer than the user":        {user: "max_retries = 5", project: "max_retries = 2", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 2 && s.Asked() }},
		"more than the user":         {user: "max_retries = 5", project: "max_retries = 6", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 5 }, ignored: "and it is 5 ("},
		"retries of a plain command": {project: "max_retries = 2", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == retry.None && !s.Asked() }, ignored: "cannot turn on retries. Use --max-retries"},
		"none of a plain command":    {project: "max_retries = 0", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == retry.None }},
		"of one that is asked for":   {project: "max_retries = 2", given: config.Given{"retry-on-exit": "7"}, profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 2 && !s.Chosen("max-retries") }},
		"off, and the user asks":     {project: "max_retries = 0", given: config.Given{"retry-on-exit": "7"}, profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 3 }, ignored: "it would turn off what you asked for"},
		"off, and the file asks":     {user: "max_retries = 5", project: "max_retries = 0", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 5 }, ignored: "it would turn off what you asked for"},
		"off, nothing was asked":     {project: "max_retries = 0", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == retry.None }},
		"a flag is nearer":           {project: "max_retries = 2", given: config.Given{"max-retries": "7"}, profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 7 }},
		"its table for a profile":    {project: "max_retries = 1\n[profile.claude]\nmax_retries = 3", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 3 }},

		"longer delays": {project: "base_delay = 9\nmax_delay = 900\nfactor = 3", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool {
			return p.BaseDelay == 9*time.Second && p.MaxDelay == 15*time.Minute && p.Factor == 3
		}},
		"a shorter delay":   {project: "base_delay = 0", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.BaseDelay == 2*time.Second }, ignored: "may only raise it, and it is 2s (preset claude)"},
		"a shorter longest": {project: "max_delay = 1", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxDelay == 2*time.Minute }, ignored: "may only raise it, and it is 2m (preset claude)"},
		"a smaller factor":  {project: "exponential_base = 1", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.Factor == 2 || p.Factor == 0 }, ignored: "exponential_base is ignored: a project's file may only raise it, and it is 2"},
		"longer jitter":     {project: "jitter = \"additive:0.5\"", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.Jitter == retry.Additive(0.5) }},
		"shorter jitter":    {project: "jitter = \"full\"", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.Jitter == retry.Proportional(0.2) }, ignored: "may only make waits longer"},
		"no jitter":         {project: "jitter = \"none\"", given: config.Given{"max-retries": "1"}, profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Jitter == retry.NoJitter }},
		"a shorter wait": {project: "max_wait = \"1m\"", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool {
			return p.MaxWait == time.Minute && s.AtMost.Starts == 20
		}},
		"a longer wait":         {project: "max_wait = \"1h\"", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxWait == 0 && p.MaxAttempts() == 20 }, ignored: "may only lower it, and it is 5m"},
		"no wait":               {project: "max_wait = 0", given: config.Given{"max-retries": "2"}, profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxWait == 0 }, ignored: "it would turn off what you asked for"},
		"a wait, and --no-wait": {project: "max_wait = 9", given: config.Given{"no-wait": "true"}, profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxWait == 1 }},
		"a longer buffer":       {project: "rate_limit_buffer = 9", profile: "gh", holds: func(p retry.Policy, s *config.Settings) bool { return s.LimitBuffer == 9*time.Second }},
		"a shorter buffer":      {project: "rate_limit_buffer = 0", profile: "gh", holds: func(p retry.Policy, s *config.Settings) bool { return s.From("rate-limit-buffer") == "" }, ignored: "may only raise it, and it is 5s"},

		"a timeout": {project: "timeout = 9", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 9*time.Second }},
		"a timeout beside a CLI's": {project: "timeout = 9", profile: "gh", holds: func(p retry.Policy, s *config.Settings) bool {
			return p.Timeout == 0 && s.AtMost.Timeout == 9*time.Second
		}},
		"a longer timeout":         {user: "timeout = 8", project: "timeout = 9", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 8*time.Second }, ignored: "may only lower it, and it is 8s ("},
		"no timeout":               {user: "timeout = 8", project: "timeout = 0", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 8*time.Second }, ignored: "may only lower it"},
		"no timeout where none is": {project: "timeout = 0", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 0 }},
		"a total timeout":          {user: "total_timeout = 8", project: "total_timeout = 7", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.TotalTimeout == 7*time.Second }},
		"a stall timeout": {project: "stall_timeout = 7", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool {
			return s.StallTimeout == 0 && s.AtMost.Stall == 7*time.Second
		}},
		"no stall timeout": {project: "stall_timeout = 0", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool {
			return s.AtMost.Stall == 0 && s.From("stall-timeout") == ""
		}, ignored: "cannot turn it off"},
		"one that the user has off": {user: "stall_timeout = 0", project: "stall_timeout = 7", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return s.AtMost.Stall == 0 }, ignored: "you turned it off in "},
		"repeated timeouts":         {project: "retry_timeouts = 2", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.RetryTimeouts == 0 }, ignored: "may only lower it, and it is 0"},
		"fewer repeated timeouts":   {user: "retry_timeouts = 3", project: "retry_timeouts = 2", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.RetryTimeouts == 2 }},
		"exit codes":                {project: "retry_on_exit = [1]", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return !s.Asked() && s.RetryOnExit == nil }, ignored: "a project's file may not set this"},
		"slots":                     {project: "max_parallel = 2", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return s.MaxParallel == 2 }},
		"more slots":                {user: "max_parallel = 1", project: "max_parallel = 2", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return s.MaxParallel == 1 }, ignored: "may only lower it, and it is 1"},
		"slots of a plain command":  {project: "max_parallel = 2", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return s.MaxParallel == 0 }},
		"a breaker":                 {project: "breaker_failures = 1", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return s.BreakerFailures == 0 }, ignored: "a project's file may not set this"},
		"a cost":                    {project: "max_cost = 0.01", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return s.MaxCost == 0 }, ignored: "a project's file may not set this"},
		"a strict preset": {project: "preset = \"conservative\"", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool {
			return p.MaxRetries == 2 && p.BaseDelay == 5*time.Second && s.Preset == ""
		}, ignored: "preset (max_delay) is ignored: a project's file may only raise it, and it is 2m"},
		"a generous preset":           {project: "preset = \"critical\"\nmax_retries = 3", profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 3 && p.MaxWait == 0 }, ignored: "preset ("},
		"a preset of a plain command": {project: "preset = \"critical\"", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == retry.None }, ignored: "preset (max_retries) is ignored: a project's file cannot turn on retries"},
		"a preset beside a flag":      {project: "preset = \"conservative\"", given: config.Given{"preset": "critical"}, profile: "claude", holds: func(p retry.Policy, s *config.Settings) bool { return p.MaxRetries == 10 }},

		"an unknown key": {project: "\nmax_retrys = 2\ntimeout = 3", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 3*time.Second }, ignored: ":2: max_retrys is ignored: unknown key; did you mean max_retries?"},
		"a wrong type": {project: "timeout = {a = 1}\ntotal_timeout = 3", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool {
			return p.Timeout == 0 && p.TotalTimeout == 3*time.Second
		}, ignored: ":1: timeout is ignored: must be a string"},
		"a wrong value":      {project: "timeout = \"soon\"", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 0 }, ignored: "timeout is ignored: \"soon\" is not a duration"},
		"two names":          {project: "factor = 3\nexponential_base = 4", given: config.Given{"max-retries": "1"}, profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Factor == 3 }, ignored: ":2: exponential_base is ignored: this is another name for factor"},
		"not TOML":           {project: "timeout = 3\nx", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 0 }, ignored: ".belay.toml:2 is ignored: cannot read this line"},
		"an unknown profile": {project: "timeout = 3\n[profile.nope]\ntimeout = 1", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 3*time.Second }, ignored: "profile.nope is ignored: there is no profile nope"},
		"no profiles":        {project: "timeout = 3\nprofile = 3", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 3*time.Second }, ignored: "profile is ignored: must be a table"},
		"a rule":             {project: "timeout = 3\n[[rule]]\nname = \"r\"", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return p.Timeout == 3*time.Second }, ignored: "rule is ignored: a project's file may not set rules"},
		"an alert": {project: "timeout = 3\n[alert]\ncommand = [\"x\"]", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool {
			return s.Alerts.Command == nil && p.Timeout == 3*time.Second
		}, ignored: "alert is ignored: a project's file may not set alerts"},
		"of one call": {project: "prompt = \"x\"", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool { return s.Prompt == "" }, ignored: "prompt is ignored: applies to a single call only"},
		"escapes": {project: "\"\\u001b[2J\\u009b\" = 1", profile: "generic", holds: func(p retry.Policy, s *config.Settings) bool {
			return !strings.ContainsAny(s.Warning(always), "\x1b\u009b")
		}, ignored: ": \ufffd[2J\ufffd is ignored: unknown key"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			home(t, tt.user, tt.project)
			p, s := policyOf(t, tt.given, tt.profile)
			if !tt.holds(p, s) {
				t.Errorf("%+v, %+v", p, s)
			}
			warning := s.Warning(always)
			if (warning == "") != (tt.ignored == "") || !strings.Contains(warning, tt.ignored) || strings.Contains(warning, "\n") {
				t.Errorf("ignored: %q, want %q", warning, tt.ignored)
			}
		})
	}
}

// A setting that a project may set has something to be compared by; all others are closed to it.
func TestProject_EveryScopeIsMeasured(t *testing.T) {
	for i := range config.Table {
		s := &config.Table[i]
		if s.Scope == config.Lower || s.Scope == config.Raise {
			if !config.Measured(s.Name) {
				t.Errorf("%s has no measure", s.Name)
			}
		}
	}
}

// A project's file counts up to the root of the repository or the home directory.
func TestProject_Place(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must.OK(t, err)
	t.Setenv("HOME", filepath.Join(top, "home"))
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(top, "none"))
	for _, dir := range []string{"home/code/repo/sub/deep", "home/code/repo/.git", "home/code/plain/sub", "srv/app/sub", "srv/tree/repo/.hg", "srv/tree/repo/sub", "srv/work"} {
		must.OK(t, os.MkdirAll(filepath.Join(top, dir), 0o700))
	}
	// A linked working tree has a file in the place of the directory.
	must.OK(t, os.WriteFile(filepath.Join(top, "srv/work/.git"), []byte("gitdir: elsewhere"), 0o600))
	must.OK(t, os.Symlink(filepath.Join(top, "home/code/repo/sub"), filepath.Join(top, "srv/link")))
	for _, tt := range []struct{ file, from, warning string }{
		{"home/code/repo", "home/code/repo/sub/deep", ""},
		{"home/code/repo/sub", "home/code/repo/sub/deep", ""},
		{"home/code/repo", "srv/link/deep", ""},
		{"home/code", "home/code/repo/sub", "it is above the root of the repository, " + top + "/home/code/repo. Put"},
		{"home", "home/code/plain/sub", ""},
		{"home", "home/code/repo/sub", "it is above the root of the repository"},
		{".", "home/code/plain/sub", "it is above your home directory"},
		{"srv/app/sub", "srv/app/sub", ""},
		{"srv/app", "srv/app/sub", "only a file in the working directory is read"},
		{"srv/tree/repo", "srv/tree/repo/sub", ""},
		{"srv/tree", "srv/tree/repo/sub", "it is above the root of the repository"},
		{"srv/work", "srv/work", ""},
		{"srv", "srv/work", "it is above the root of the repository"},
	} {
		path := filepath.Join(top, tt.file, config.ProjectFile)
		must.OK(t, os.WriteFile(path, []byte("timeout = 7"), 0o600))
		p, s := policyOf(t, config.Given{"cwd": filepath.Join(top, tt.from)}, "generic")
		if (p.Timeout == 7*time.Second) != (tt.warning == "") || !strings.Contains(s.Warning(always), tt.warning) || tt.warning == "" && s.Warning(always) != "" {
			t.Errorf("%s from %s: timeout %v, %q", tt.file, tt.from, p.Timeout, s.Warning(always))
		}
		os.Remove(path)
	}
}

func always(string) bool { return true }
