package opencode

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// settings are what can be known cheaply of the service that opencode will call.
type settings struct {
	provider string        // its name; empty if it is not known
	model    string        // without the provider
	baseURL  string        // empty for the provider's own
	account  string        // the credential, or the place of the login. Only ever shown as a hash
	silence  time.Duration // how long the service may say nothing: negative for no limit, 0 if that is not set
	bash     time.Duration // how long a command may take unless the model says; 0 if that is not set
}

// findSettings reads what says where opencode goes: config files, the environment, then the command line, the later winning.
func findSettings(l line, env []string, dir, home string) settings {
	var c config
	for _, path := range userFiles(env) {
		c.merge(agent.ReadSettings(path), true)
	}
	for _, path := range projectFiles(env, dir) {
		c.merge(agent.ReadSettings(path), false)
	}
	c.merge([]byte(agent.Getenv(env, "OPENCODE_CONFIG_CONTENT")), true)
	var s settings
	s.provider, s.model, _ = strings.Cut(cmp.Or(l.run.Value(optModel), c.Model), "/")
	p := c.Provider[s.provider]
	s.baseURL, s.silence = expand(p.Options.BaseURL, env), p.silence()
	key := expand(p.Options.APIKey, env)
	if s.provider != "" {
		key = cmp.Or(key, agent.Getenv(env, strings.ToUpper(strings.ReplaceAll(s.provider, "-", "_"))+"_API_KEY"))
	}
	s.account = cmp.Or(key, home)
	s.bash = agent.Milliseconds(agent.Getenv(env, "OPENCODE_EXPERIMENTAL_BASH_DEFAULT_TIMEOUT_MS"))
	return s
}

// gate is the key of the limits that the call falls under.
func (s settings) gate() string {
	host := agent.Host(s.baseURL)
	if host == "" && s.provider != "" {
		host = "provider-" + agent.KeyPart(s.provider)
	}
	return agent.GateKey(Name, cmp.Or(host, "provider-default"), s.account)
}

// expand is a value of the config, which may name a variable: {env:NAME}.
func expand(value string, env []string) string {
	before, rest, ok := strings.Cut(value, "{env:")
	name, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return value
	}
	return before + agent.Getenv(env, name) + after
}

// dataDir is where opencode keeps sessions and logins; empty if the environment does not say.
func dataDir(env []string) string {
	if dir := agent.Getenv(env, "XDG_DATA_HOME"); dir != "" {
		return filepath.Join(dir, Name)
	}
	if home := userHome(env); home != "" {
		return filepath.Join(home, ".local", "share", Name)
	}
	return ""
}

func userHome(env []string) string {
	return cmp.Or(agent.Getenv(env, "HOME"), agent.Getenv(env, "USERPROFILE"))
}
