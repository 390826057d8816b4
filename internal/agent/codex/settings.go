package codex

import (
	"cmp"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// settings are what can be known cheaply of the service that codex will call.
type settings struct {
	provider string // its name in the config; empty for OpenAI's own
	baseURL  string
	envKey   string // the variable that holds the credential
	account  string // the credential, or the place of the login. Only ever shown as a hash
	model    string // empty for codex's own choice

	// requestRetries is how often codex repeats a request that met a 5xx or a dead connection before it says so, and
	// streamRetries how often it says so and begins again.
	requestRetries, streamRetries int
	configurable                  bool // both can be set, because the config has the provider
	unbounded                     bool // it was told to wait for a network for as long as it takes
	// streamIdle is how long a stream may be silent, and toolTimeout how long the slowest of the MCP tools may take, where the config says so.
	streamIdle, toolTimeout time.Duration
}

const (
	defaultHost           = "api.openai.com"
	defaultRequestRetries = 4
	defaultStreamRetries  = 5
)

// findSettings reads what says where codex goes: config file, then -c, the later winning.
func findSettings(l line, env []string, home string) settings {
	values := map[string]string{}
	if home != "" && !l.has("--ignore-user-config") {
		readConfig(filepath.Join(home, "config.toml"), values)
	}
	for _, part := range l.parts() {
		for _, a := range part.Read {
			if a.Name == optConfig {
				key, value, _ := strings.Cut(a.Values[0], "=")
				setOverride(values, strings.TrimSpace(key), strings.TrimSpace(value))
			}
		}
	}
	s := settings{provider: values["model_provider"], model: values["model"], requestRetries: defaultRequestRetries, streamRetries: defaultStreamRetries}
	if l.has(optOSS) {
		s.provider = "oss"
	}
	of := func(key string) string { return values["model_providers."+s.provider+"."+key] }
	s.baseURL, s.envKey = of("base_url"), of("env_key")
	if n, err := strconv.Atoi(of("request_max_retries")); err == nil && n >= 0 {
		s.requestRetries = n
	}
	if n, err := strconv.Atoi(of("stream_max_retries")); err == nil && n >= 0 {
		s.streamRetries = n
	}
	s.unbounded = values[keyUnbounded] == "true"
	s.streamIdle = agent.Milliseconds(of("stream_idle_timeout_ms"))
	for key, value := range values {
		if strings.HasPrefix(key, keyServers) {
			s.toolTimeout = max(s.toolTimeout, agent.Seconds(value))
		}
	}
	s.configurable = s.baseURL != "" && s.provider != "" && s.provider == agent.KeyPart(s.provider) && !strings.ContainsAny(s.provider, ".:[]")
	if s.baseURL == "" && (s.provider == "" || s.provider == "openai") {
		s.baseURL = cmp.Or(values["openai_base_url"], agent.Getenv(env, "OPENAI_BASE_URL"))
	}
	if s.envKey != "" {
		s.account = agent.Getenv(env, s.envKey)
	}
	s.account = cmp.Or(s.account, agent.Getenv(env, "CODEX_API_KEY"), home)
	return s
}

// own is what the user has told codex of its retries.
func (s settings) own() agent.OwnRetries {
	return agent.OwnRetries{Set: s.unbounded || s.requestRetries > defaultRequestRetries || s.streamRetries > defaultStreamRetries}
}

// retryOptions keep codex from more retries than n, and from silent ones: it would repeat a request four times for each
// of the five retries that it reports. They can be set for a provider of the config, not for OpenAI's
// own.
func (s settings) retryOptions(n int) []string {
	if !s.configurable {
		return nil
	}
	key := "model_providers." + s.provider + "."
	return []string{"-c", key + noRequestRetries, "-c", key + "stream_max_retries=" + strconv.Itoa(min(n, s.streamRetries))}
}

const noRequestRetries = "request_max_retries=0"

// gate is the key of the limits that the call falls under.
func (s settings) gate() string {
	host := agent.Host(s.baseURL)
	if host == "" && s.provider != "" && s.provider != "openai" {
		host = "provider-" + agent.KeyPart(s.provider)
	}
	return agent.GateKey(Name, cmp.Or(host, defaultHost), s.account)
}

// homeOf is where codex keeps its things; empty if the environment does not say.
func homeOf(env []string, dir string) string {
	home := agent.Getenv(env, "CODEX_HOME")
	if home == "" {
		if home = agent.HomeDir(env); home != "" {
			home = filepath.Join(home, ".codex")
		}
	}
	if home != "" && !filepath.IsAbs(home) {
		home = filepath.Join(dir, home)
	}
	return home
}
