package config_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/test/must"
)

// A job can only restrict what the user of the machine has set, by the order that a project's file has to keep to; what has no order, and what a job may not say, is refused by name.
func TestJob(t *testing.T) {
	const user = `max_retries = 3
timeout = "10m"
base_delay = "2s"
max_wait = "5m"
fail_on = "panic"
no_wait = true
max_cost = 1.5
max_parallel = 2
jitter = "plus:1s"
fallback = ["codex:small", "gemini"]
reap = true
name = "ours"
[tag]
team = "web"
[budget.team]
limit = 0.10
window = "day"
profile = "claude"
`
	as := func(value string) string { return value } // it takes effect as it is
	for name, test := range map[string]struct {
		user, profile, flag, value string
		want                       string // empty if it has no effect
		refused                    string
	}{
		"nothing set":                 {"", "claude", "max-retries", "9", as("9"), ""},
		"no limit for a silence":      {"", "claude", "stall-timeout", "0", as("0"), ""},
		"fewer retries":               {user, "claude", "max-retries", "2", as("2"), ""},
		"no retries":                  {user, "generic", "max-retries", "0", as("0"), ""},
		"more retries":                {user, "claude", "max-retries", "4", "", ""},
		"a shorter time":              {user, "generic", "timeout", "9m", as("9m"), ""},
		"a longer time":               {user, "generic", "timeout", "11m", "", ""},
		"no time limit":               {user, "generic", "timeout", "0", "", ""},
		"longer pauses":               {user, "generic", "base-delay", "3s", as("3s"), ""},
		"shorter pauses":              {user, "generic", "base-delay", "1s", "", ""},
		"longer waits":                {user, "claude", "max-wait", "100h", "", ""},
		"less jitter":                 {user, "claude", "jitter", "none", "", ""},
		"more jitter":                 {user, "claude", "jitter", "plus:2s", as("plus:2s"), ""},
		"fewer at a time":             {user, "claude", "max-parallel", "1", as("1"), ""},
		"more at a time":              {user, "claude", "max-parallel", "3", "", ""},
		"a lower cost":                {user, "claude", "max-cost", "1", as("1"), ""},
		"a higher cost":               {user, "claude", "max-cost", "2", "", ""},
		"a preset":                    {user, "claude", "preset", "conservative", as("conservative"), ""},
		"instead of a preset":         {"preset = \"conservative\"", "claude", "preset", "claude", "", ""},
		"more than a preset":          {"preset = \"conservative\"", "generic", "max-retries", "1000", "", ""},
		"another pattern":             {user, "claude", "fail-on", "x", "", "jobs may not change --fail-on here, which is set in the settings of this machine"},
		"the same pattern":            {user, "claude", "fail-on", "panic", as("panic"), ""},
		"a pattern":                   {"", "claude", "fail-on", "x", as("x"), ""},
		"waits after all":             {user, "claude", "no-wait", "false", "", "jobs may not change --no-wait here"},
		"what it leaves running":      {user, "claude", "reap", "false", "", "jobs may not change --reap here"},
		"another name":                {user, "claude", "name", "theirs", "", ""},
		"a name":                      {"", "claude", "name", "theirs", as("theirs"), ""},
		"no gate":                     {"", "claude", "no-gate", "true", "", "jobs may not set --no-gate"},
		"another gate":                {"", "claude", "gate", "mine", "", "jobs may not set --gate for claude, which has a gate of its own"},
		"a gate":                      {"", "generic", "gate", "mine", as("mine"), ""},
		"instead of a gate":           {"gate = \"ours\"", "generic", "gate", "mine", "", "jobs may not change --gate here"},
		"a scope":                     {"", "claude", "scope", "deploy", as("deploy"), ""},
		"a scope that is busy":        {"", "claude", "on-busy", "fail", as("fail"), ""},
		"in place of another":         {"", "claude", "on-busy", "replace", "", "jobs may not set --on-busy=replace"},
		"a budget":                    {user, "claude", "budget", "nightly=5/day", as("nightly=5/day"), ""},
		"a higher limit":              {user, "claude", "budget", "team=1000/day", "team", ""},
		"a limit for a longer time":   {user, "claude", "budget", "team=0.05/month", "team", ""},
		"a lower limit":               {user, "claude", "budget", "team=0.05/day", as("team=0.05/day"), ""},
		"beside a budget":             {"budget = \"all=2/week\"", "claude", "budget", "all=3/week,nightly", "all=2/week,nightly", ""},
		"a fallback":                  {"", "claude", "fallback", "codex", as("codex"), ""},
		"one of the fallbacks":        {user, "claude", "fallback", "gemini", as("gemini"), ""},
		"another fallback":            {user, "claude", "fallback", "cursor", "", "jobs may not change --fallback here"},
		"another model":               {user, "claude", "fallback", "codex:large", "", "jobs may not change --fallback here"},
		"a file":                      {"", "claude", "result-file", "/etc/passwd", "", "jobs may not set --result-file"},
		"a breaker":                   {"", "claude", "breaker-failures", "1000", "", "jobs may not set --breaker-failures"},
		"no record":                   {"", "claude", "no-record", "true", "", "jobs may not set --no-record"},
		"no such flag":                {"", "claude", "x\ny", "1", "", "jobs may not set --x"},
		"a value that makes no sense": {"", "claude", "timeout", "soon", "", "--timeout: "},
	} {
		t.Run(name, func(t *testing.T) {
			home(t, test.user, "max_retries = 1")
			settings, err := config.ReadUser()
			must.OK(t, err)
			given, tags, err := settings.Job(map[string]string{test.flag: test.value}, map[string]string{"team": "theirs", "task": "x"}, test.profile)
			if test.refused != "" {
				if err == nil || !strings.Contains(err.Error(), test.refused) {
					t.Errorf("%v, not %s", err, test.refused)
				}
				return
			}
			want := map[string]string{}
			if test.want != "" {
				want[test.flag] = test.want
			}
			if err != nil || !maps.Equal(given, want) {
				t.Errorf("%v, not %v: %v", given, want, err)
			}
			if tags["task"] != "x" || (tags["team"] == "") != (test.user == user) {
				t.Errorf("%v", tags)
			}
		})
	}
}

// What the environment of the machine sets counts as well.
func TestJob_Environment(t *testing.T) {
	home(t, "", "")
	t.Setenv("BELAY_MAX_RETRIES", "2")
	settings, err := config.ReadUser()
	must.OK(t, err)
	if given, _, err := settings.Job(map[string]string{"max-retries": "3"}, nil, "claude"); err != nil || len(given) > 0 {
		t.Errorf("%v %v", given, err)
	}
}
