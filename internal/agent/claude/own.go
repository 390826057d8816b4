package claude

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// The variables by which a user tells claude to wait for limits, as versions 2.1.197 to 2.1.326 know them. With the first it tries again for as
// long as it takes; the others bound that for each request.
const (
	watchdogVar      = "CLAUDE_CODE_RETRY_WATCHDOG"
	watchdogWaitVar  = "CLAUDE_CODE_RETRY_WATCHDOG_MAX_WAIT_MS"
	watchdogUsageVar = "CLAUDE_CODE_RETRY_WATCHDOG_MAX_USAGE_LIMIT_WAIT_MS"
	overloadWaitVar  = "CLAUDE_CODE_OVERLOADED_RETRY_MAX_WAIT_MS"
	overloadDelayVar = "CLAUDE_CODE_OVERLOADED_RETRY_MAX_DELAY_MS"
)

// ownRetries is what the user has told claude of its retries and waits.
func (p *Profile) ownRetries() (own agent.OwnRetries) {
	if isOn(p.setting(watchdogVar)) {
		own = agent.OwnRetries{Set: true, MaxWait: -1, Setting: watchdogVar}
		for _, name := range []string{watchdogWaitVar, watchdogUsageVar} {
			if d := agent.Milliseconds(p.setting(name)); d > 0 && (own.MaxWait < 0 || d < own.MaxWait) {
				own.MaxWait, own.Setting = d, name
			}
		}
		return own
	}
	if n, err := strconv.Atoi(p.setting(maxRetriesVar)); err == nil { // then claude does not look at the time for overloads
		own.Set = n > defaultRetries
	} else if d := agent.Milliseconds(p.setting(overloadWaitVar)); d > 0 {
		own = agent.OwnRetries{Set: true, MaxWait: d, Setting: overloadWaitVar}
	}
	own.Set = own.Set || p.setting(overloadDelayVar) != ""
	return own
}

// stalls are how long claude may show no event, and while a tool runs. What it was told to wait for is not a stall.
func (p *Profile) stalls() (model, tool time.Duration) {
	ms := func(name string) time.Duration { return agent.Milliseconds(p.setting(name)) }
	background := ms("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS")
	if p.setting("CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS") == "0" {
		background = -1
	}
	model = agent.StallBeyond(300*time.Second, ms("API_TIMEOUT_MS"), ms("CLAUDE_STREAM_IDLE_TIMEOUT_MS"))
	tool = agent.StallBeyond(900*time.Second, ms("API_TIMEOUT_MS"), ms("CLAUDE_STREAM_IDLE_TIMEOUT_MS"),
		ms("BASH_DEFAULT_TIMEOUT_MS"), ms("BASH_MAX_TIMEOUT_MS"), ms("MCP_TOOL_TIMEOUT"), background)
	return model, tool
}

// isOn reads a variable that turns something on as claude does.
func isOn(value string) bool {
	return slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(value)))
}

// setting is the value of a variable for claude itself: its settings put theirs over those of the environment.
func (p *Profile) setting(name string) string {
	if value, ok := p.set()[name]; ok {
		return value
	}
	return p.getenv(name)
}

// settingsEnv is what the user's settings file, and that of the command line, put into the environment. A mistake in one of them is claude's
// to report. A repository's files are not asked: how long Belay waits is not for them to say.
func (p *Profile) settingsEnv() map[string]string {
	var s struct {
		Env map[string]any `json:"env"`
	}
	if dir := p.configDir(); filepath.IsAbs(dir) {
		json.Unmarshal(agent.ReadSettings(filepath.Join(dir, "settings.json")), &s)
	}
	if given := p.line.Value("--settings"); strings.HasPrefix(strings.TrimSpace(given), "{") {
		json.Unmarshal([]byte(given), &s)
	} else if given != "" {
		json.Unmarshal(agent.ReadSettings(given), &s)
	}
	env := map[string]string{}
	for name, value := range s.Env {
		switch v := value.(type) {
		case string:
			env[name] = v
		case float64:
			env[name] = strconv.FormatFloat(v, 'f', -1, 64)
		case bool:
			env[name] = strconv.FormatBool(v)
		}
	}
	return env
}
