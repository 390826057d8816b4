package config_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/retry"
)

// home makes a home with a user's file and a repository with its own; empty text means no such file.
func home(t *testing.T, user, project string) {
	t.Helper()
	dir := t.TempDir()
	write := func(path, text string) {
		if text == "" {
			return
		}
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	}
	write(filepath.Join(dir, "config", "belay", "config.toml"), user)
	write(filepath.Join(dir, "project", ".belay.toml"), project)
	sub := filepath.Join(dir, "project", "deep", "down")
	for _, dir := range []string{sub, filepath.Join(dir, "project", ".git")} {
		must.OK(t, os.MkdirAll(dir, 0o700))
	}
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Chdir(sub)
}

func TestLoad_TheNearerLayerWins(t *testing.T) {
	home(t, "max_retries = 1\nbase_delay = \"1s\"\nmax_delay = 11\nfactor = 1.5", "max_retries = 2\nbase_delay = \"2s\"\nmax_delay = 12.5")
	t.Setenv("BELAY_MAX_RETRIES", "3")
	t.Setenv("BELAY_BASE_DELAY", "3s")
	s, _, err := config.Load(config.Given{"max-retries": "4"}, "generic")
	must.OK(t, err)
	if s.MaxRetries != 4 || s.BaseDelay != 3*time.Second || s.MaxDelay != 12500*time.Millisecond || s.Factor != 1.5 {
		t.Errorf("flag %d, environment %v, project %v, user %v", s.MaxRetries, s.BaseDelay, s.MaxDelay, s.Factor)
	}
	for name, want := range map[string]string{"max-retries": "--max-retries", "base-delay": "BELAY_BASE_DELAY",
		"max-delay": ".belay.toml", "factor": "config.toml", "timeout": ""} {
		if got := s.From(name); !strings.HasSuffix(got, want) || want == "" && got != "" {
			t.Errorf("%s comes from %q, want %q", name, got, want)
		}
	}
	shown, err := config.Show("")
	if err != nil || len(shown) != 4 || shown[0].Value != "3" {
		t.Errorf("shown %+v, %v", shown, err)
	}
}

func TestLoad_ProfileTablesAreNearerThanTheirFile(t *testing.T) {
	home(t, "timeout = 1\n[profile.generic]\ntimeout = 2\n[profile.claude]\ntimeout = 3", "")
	for profile, want := range map[string]time.Duration{"generic": 2 * time.Second, "claude": 3 * time.Second, "gh": time.Second} {
		if s, _, err := config.Load(nil, profile); err != nil || s.Timeout != want {
			t.Errorf("%s: %v, %v", profile, s.Timeout, err)
		}
	}
}

func TestLoad_Rules(t *testing.T) {
	home(t, `
[[rule]]
name = "ours"
match = "quota of the day"
class = "usage_limit"

[[rule]]
name = "not-ours"
profile = "claude"
match = "x"
class = "auth"
`, "")
	_, rules, err := config.Load(nil, "generic")
	if err != nil || len(rules) != 1 || rules[0].Name != "ours" {
		t.Errorf("%+v, %v", rules, err)
	}
}

// Mistakes name the file, the line and the key.
func TestLoad_Mistakes(t *testing.T) {
	stop := []string{"value", "type", "in a profile", "profile misspelt", "profile not there", "rule of no profile", "rule class", "rule pattern", "rule key", "rule without name",
		"near to a limit", "near to a budget", "unknown table with a limit", "no TOML with a limit", "a limit by two names"}
	tests := map[string]struct{ user, want string }{
		"near to a limit":            {user: "max_cosst = 3", want: "config.toml:1: max_cosst: unknown key; did you mean max_cost? Nothing runs until this is corrected, because max_cost protects"},
		"near to a budget":           {user: "[budgett.x]\nlimit = 5", want: "config.toml:1: budgett: unknown key; did you mean budget? Nothing runs until this is corrected, because budget protects"},
		"unknown table with a limit": {user: "[defaults]\nmax_cost = 5", want: "config.toml:1: defaults: unknown key. Nothing runs until this is corrected, because max_cost protects"},
		"no TOML with a limit":       {user: "max_retries: 3\n# x\nmax_cost = 5", want: "config.toml:1: cannot read this line: max_retries: 3 ("},
		"a limit by two names":       {user: "stall_timeout = 5\nno_output_timeout = 3", want: "config.toml:2: no_output_timeout: this is another name for stall_timeout, which is set in line 1. Remove one of the two. Nothing runs"},
		"typo":                       {user: "# x\n\nmax_retrys = 3", want: "config.toml:3: max_retrys: unknown key; did you mean max_retries?"},
		"dash":                       {user: "max-retries = 3", want: "config.toml:1: max-retries: unknown key"},
		"unknown":                    {user: "colour = \"red\"", want: "config.toml:1: colour: unknown key"},
		"syntax":                     {user: "a = 1\nb = = 2", want: "config.toml:2: "},
		"value":                      {user: "\ntimeout = \"soon\"", want: "config.toml:2: timeout: \"soon\" is not a duration"},
		"type":                       {user: "timeout = 2026-11-15", want: "config.toml:1: timeout: must be a string"},
		"negative":                   {user: "max_retries = -1", want: "config.toml:1: max_retries: -1 is not between"},
		"in a profile":               {user: "[profile.generic]\n\ntimeoot = 1", want: "config.toml:3: profile.generic.timeoot: unknown key; did you mean timeout?"},
		"profile not table":          {user: "profile = 3", want: "config.toml:1: profile: must be a table"},
		"profile.x no table":         {user: "profile.x = 3", want: "config.toml:1: profile.x: must be a table"},
		"profile misspelt":           {user: "[profile.cluade]\ntimeout = 3", want: "config.toml:1: profile.cluade: there is no profile cluade; did you mean claude?"},
		"profile not there":          {user: "\n[profile.nope]\ntimeout = 3", want: "config.toml:2: profile.nope: there is no profile nope. The profiles are " + message.And(config.Profiles())},
		"rule of no profile":         {user: "[[rule]]\nname = \"r\"\nprofile = \"nope\"\nmatch = \"x\"\nclass = \"auth\"", want: "rule r: there is no profile nope"},
		"alert of no one":            {user: "[alert.cluade]\nfailures = 3", want: "config.toml:1: alert.cluade: there is no profile cluade"},
		"no value":                   {user: "max_retries =\n", want: "config.toml:1: max_retries has no value. Write it like this: max_retries = 3"},
		"no quotes":                  {user: "\nmax_wait = 5m", want: "config.toml:2: cannot read the value of max_wait. Put text in quotes, like this: max_wait = \"5m\""},
		"no setting":                 {user: "max_retries: 3", want: "config.toml:1: cannot read this line: max_retries: 3 ("},
		"no secret is shown":         {user: "[alert]\nwebhook = \"https://x/secret", want: "config.toml:2: cannot read this line: webhook = … ("},
		"defined twice":              {user: "factor = 2\nfactor = 3", want: "config.toml:2: key factor is already defined"},
		"contradiction":              {user: "quiet = true\nverbose = true", want: "config.toml: quiet and verbose cannot be used together"},
		"per call":                   {user: "prompt = \"hi\"", want: "applies to a single call only. Use --prompt"},
		"rule class":                 {user: "[[rule]]\nname = \"r\"\nmatch = \"x\"\nclass = \"nonsense\"", want: "nonsense"},
		"rule pattern":               {user: "[[rule]]\nname = \"r\"\nmatch = \"(\"\nclass = \"auth\"", want: "rule"},
		"rule key":                   {user: "[[rule]]\nname = \"r\"\nmatch = \"x\"\nclass = \"auth\"\nstreem = \"stderr\"", want: "unknown key streem in line 5"},
		"rule without name":          {user: "[[rule]]\nmatch = \"x\"\nclass = \"auth\"", want: "has no name"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			home(t, tt.user, "")
			s, _, err := config.Load(nil, "generic")
			got := fmt.Sprint(err)
			if err == nil && !slices.Contains(stop, name) && len(s.Ignored) == 1 && s.Ignored[0].Own {
				got = strings.Replace(strings.Replace(s.Ignored[0].String(), " is ignored: ", ": ", 1), "verbose: quiet and", "quiet and", 1)
			}
			if !strings.Contains(got, tt.want) || strings.Contains(got, "\n") {
				t.Errorf("got %v, want one line with %q", got, tt.want)
			}
			if list := config.Mistakes("."); len(list) != 1 {
				t.Errorf("%q", list)
			}
		})
	}
	t.Run("environment", func(t *testing.T) {
		home(t, "", "")
		t.Setenv("BELAY_TIMEOUT", "soon")
		if _, _, err := config.Load(nil, "generic"); err == nil || !strings.Contains(err.Error(), "BELAY_TIMEOUT") {
			t.Errorf("got %v", err)
		}
	})
}

func TestPolicy(t *testing.T) {
	home(t, "", "")
	tests := map[string]struct {
		given config.Given
		check func(retry.Policy) bool
	}{
		"nothing is repeated unless asked": {nil, func(p retry.Policy) bool { return p.MaxRetries == retry.None }},
		"zero retries are none":            {config.Given{"max-retries": "0", "retry-on-exit": "1"}, func(p retry.Policy) bool { return p.MaxRetries == retry.None }},
		"a number counts throttles too":    {config.Given{"max-retries": "7"}, func(p retry.Policy) bool { return p.MaxRetries == 7 && p.CountThrottles }},
		"a narrowing asks for the default": {config.Given{"retry-on-exit": "1"}, func(p retry.Policy) bool { return p.MaxRetries == 3 && !p.CountThrottles }},
		"a preset asks":                    {config.Given{"preset": "background"}, func(p retry.Policy) bool { return p.MaxRetries == 5 && p.BaseDelay == 2*time.Second }},
		"a preset as written counts too":   {config.Given{"preset": "gateway"}, func(p retry.Policy) bool { return p.MaxRetries == 3 && p.CountThrottles }},
		"twenty starts unless asked":       {config.Given{"retry-on-exit": "1"}, func(p retry.Policy) bool { return p.MaxAttempts() == 20 }},
		"a wait that is given is enough":   {config.Given{"retry-on-exit": "1", "max-wait": "5m"}, func(p retry.Policy) bool { return p.MaxAttempts() == 0 }},
		"a preset that fails fast":         {config.Given{"preset": "sdk"}, func(p retry.Policy) bool { return p.NoBreakerWait }},
		"and waits if asked to":            {config.Given{"preset": "sdk", "max-wait": "2m"}, func(p retry.Policy) bool { return !p.NoBreakerWait }},
		"a preset that waits":              {config.Given{"preset": "background"}, func(p retry.Policy) bool { return !p.NoBreakerWait }},
		"over a preset":                    {config.Given{"preset": "background", "base-delay": "9"}, func(p retry.Policy) bool { return p.MaxRetries == 5 && p.BaseDelay == 9*time.Second }},
		"no delay is no delay":             {config.Given{"max-retries": "1", "base-delay": "0"}, func(p retry.Policy) bool { return p.Backoff(0) <= 1 }},
		"no wait":                          {config.Given{"max-retries": "1", "no-wait": "true"}, func(p retry.Policy) bool { return p.MaxWait == 1 }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			s, _, err := config.Load(tt.given, "generic")
			must.OK(t, err)
			if p := s.Policy("generic", false); !tt.check(p) {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{"30s": 30 * time.Second, "1h30m": 90 * time.Minute, "2": 2 * time.Second,
		"0.5": 500 * time.Millisecond, "2d": 48 * time.Hour, "1d12h": 36 * time.Hour, "0": 0, " 5m ": 5 * time.Minute, "250ms": 250 * time.Millisecond} {
		if got, err := config.ParseDuration(text); err != nil || got != want {
			t.Errorf("%q is %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "abc", "-1s", "-1", "1e300", "NaN", "Inf", "-Inf", "999999999h", "99999d", "65536d", "1s2", "d", "3000000h", "1 0s"} {
		if got, err := config.ParseDuration(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, s := range []string{"30s", "1d12h", "1e9", "-5", "0x1p-2", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if d, err := config.ParseDuration(s); err == nil && (d < 0 || d > config.MaxDuration || math.IsNaN(d.Seconds())) {
			t.Errorf("%q is %v", s, d)
		}
	})
}

func TestSettings_EveryRowIsWhole(t *testing.T) {
	for i := range config.Table {
		s := &config.Table[i]
		if s.Usage() == "" || s.Group == "" || config.Find(s.Name) != s || strings.Contains(s.Key(), "-") {
			t.Errorf("%+v", s)
		}
	}
}

func TestLoad_TheNearerOfTwoThatExcludeEachOther(t *testing.T) {
	home(t, "verbose = true", "")
	s, _, err := config.Load(config.Given{"quiet": "true"}, "generic")
	if err != nil || !s.Quiet || s.Verbose {
		t.Errorf("the flag has not won: %v, quiet %v, verbose %v", err, s.Quiet, s.Verbose)
	}
	if _, _, err = config.Load(config.Given{"verbose": "true", "quiet": "false"}, "generic"); err != nil {
		t.Errorf("what is off contradicts nothing: %v", err)
	}
}

// What is set for one profile, rules and alerts are shown too, and no secret.
func TestShow(t *testing.T) {
	home(t, `
max_wait = "10m"
[profile.claude]
timeout = "1h"
[[rule]]
name = "maintenance"
match = "down"
class = "overloaded"
[alert]
webhook = "https://example.com/secret"
[alert.gh]
failures = 0
`, "")
	t.Setenv("CLAUDE_MAX_RETRIES", "3")
	rows := func(profile string) string {
		shown, err := config.Show(profile)
		must.OK(t, err)
		var b strings.Builder
		for _, s := range shown {
			s.From = filepath.Base(s.From)
			fmt.Fprintln(&b, s.Kind, s.Name, s.Value, s.From, s.Profile)
		}
		return b.String()
	}
	for profile, want := range map[string]string{
		"": `setting max-wait 10m config.toml 
setting max-retries 2 CLAUDE_MAX_RETRIES claude
setting timeout 1h config.toml [profile.claude] claude
rule maintenance overloaded config.toml 
alert webhook https://example.com/… config.toml 
alert failures 0 config.toml gh
`,
		"claude": `setting max-retries 2 CLAUDE_MAX_RETRIES 
setting max-wait 10m config.toml 
setting timeout 1h config.toml [profile.claude] 
setting base-delay 2s preset claude 
setting max-delay 2m preset claude 
setting factor 2 preset claude 
setting jitter proportional:0.2 preset claude 
policy throttles count as retries CLAUDE_MAX_RETRIES 
rule maintenance overloaded config.toml 
alert webhook https://example.com/… config.toml 
`,
	} {
		if got := rows(profile); got != want {
			t.Errorf("%q:\n%swant\n%s", profile, got, want)
		}
	}
}

// A variable that looks like a setting and is none.
func TestLoad_Unread(t *testing.T) {
	home(t, "", "")
	for _, kv := range os.Environ() { // make test sets some
		if name, _, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "BELAY_") {
			t.Setenv(name, "") // so that it is set back
			os.Unsetenv(name)
		}
	}
	for _, name := range []string{"BELAY_MAX_RETRYS", "BELAY_PROMPT", "BELAY_ACCOUNTING", "BELAY_STATE_DIR", "BELAY_FOLD", "BELAY_RUN_ID", "BELAY_QUIET", "BELAY_STATEDIR"} {
		t.Setenv(name, "1")
	}
	s, _, err := config.Load(nil, "generic")
	want := []config.Unread{{"BELAY_ACCOUNTING", ""}, {"BELAY_MAX_RETRYS", "BELAY_MAX_RETRIES"}, {"BELAY_PROMPT", "--prompt"}, {"BELAY_STATEDIR", "BELAY_STATE_DIR"}}
	if err != nil || !slices.Equal(s.Unread, want) {
		t.Errorf("%v, %v", s.Unread, err)
	}
}

// What belay config show says of a policy that leaves it open is what package retry does.
func TestShow_DefaultsAreThoseOfRetry(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Chdir(t.TempDir())
	list, err := config.Show("claude")
	must.OK(t, err)
	shown := map[string]string{}
	for _, s := range list {
		shown[s.Name] = s.Value
	}
	factor := float64(retry.Policy{}.Backoff(1)) / float64(retry.Policy{}.Backoff(0))
	longest := retry.Policy{MaxRetries: 1 << 30}.TotalDelay()
	if got, err := time.ParseDuration(shown["max-wait"]); err != nil || got != longest || shown["factor"] != fmt.Sprint(factor) {
		t.Errorf("%q, retry has a factor of %v and waits %v", shown, factor, longest)
	}
}
