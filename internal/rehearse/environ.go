package rehearse

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Key is the API key that the CLIs get. It is not valid anywhere.
const Key = "sk-rehearsal-opens-nothing"

// Environ is what a CLI needs in its environment, over what is there, to talk to the stand-ins only: their address, a key,
// homes of its own. An empty value removes a variable that would lead the CLI to another service.
func (a *API) Environ() []string {
	env := []string{
		"HOME=" + a.home(),
		"XDG_CACHE_HOME=" + filepath.Join(a.home(), ".cache"),
		"XDG_DATA_HOME=" + filepath.Join(a.home(), ".local", "share"),
		"XDG_STATE_HOME=" + filepath.Join(a.home(), ".local", "state"),
		// Beside the homes, not above them: codex complains of a home in the directory for temporary files.
		"TMPDIR=" + a.tmp(),
		// Go reads the upper-case one, and would take github.localhost for a part of localhost. Others read the lower-case one.
		"NO_PROXY=127.0.0.1",
		"no_proxy=127.0.0.1,localhost",
	}
	for _, v := range vendors {
		env = append(env, v.environ(a)...)
	}
	return env
}

// Over is an environment with another over it. Variables that are empty there are removed.
func Over(env, over []string) []string {
	name := func(kv string) string {
		text, _, _ := strings.Cut(kv, "=")
		return text
	}
	set := map[string]bool{}
	for _, kv := range over {
		set[name(kv)] = true
	}
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return set[name(kv)] })
	return append(env, slices.DeleteFunc(slices.Clone(over), func(kv string) bool { return strings.HasSuffix(kv, "=") })...)
}

// home is the home directory of what is run.
func (a *API) home() string { return filepath.Join(a.dir, "home") }

func (a *API) tmp() string { return filepath.Join(a.dir, "tmp") }

func (anthropic) prepare(a *API) error { return os.MkdirAll(filepath.Join(a.home(), ".claude"), 0o700) }

func (anthropic) environ(a *API) []string {
	env := []string{
		"ANTHROPIC_BASE_URL=" + a.URL(),
		"CLAUDE_CONFIG_DIR=" + filepath.Join(a.home(), ".claude"),
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "DISABLE_ERROR_REPORTING=1",
		"ANTHROPIC_AUTH_TOKEN=", "CLAUDE_CODE_USE_BEDROCK=", "CLAUDE_CODE_USE_VERTEX=", "CLAUDE_CODE_USE_FOUNDRY=",
		"ANTHROPIC_CUSTOM_HEADERS=", "CLAUDECODE=",
	}
	if a.options.Subscription {
		return append(env, "ANTHROPIC_API_KEY=", "CLAUDE_CODE_OAUTH_TOKEN="+Key)
	}
	return append(env, "ANTHROPIC_API_KEY="+Key, "CLAUDE_CODE_OAUTH_TOKEN=")
}

// prepare tells codex of a provider: it takes the address of its own one, but talks to that by WebSocket first.
func (openai) prepare(a *API) error {
	home := filepath.Join(a.home(), ".codex")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	config := fmt.Sprintf(`# Made by belay for a rehearsal.
model_provider = "rehearsal"

[model_providers.rehearsal]
name = "rehearsal"
base_url = %s
env_key = "OPENAI_API_KEY"
wire_api = "responses"
`, strconv.Quote(a.URL()+"/v1"))
	return os.WriteFile(filepath.Join(home, "config.toml"), []byte(config), 0o600)
}

func (openai) environ(a *API) []string {
	return []string{
		"CODEX_HOME=" + filepath.Join(a.home(), ".codex"),
		"OPENAI_API_KEY=" + Key, "CODEX_API_KEY=" + Key, "OPENAI_BASE_URL=" + a.URL() + "/v1",
	}
}

// prepare tells gemini to use its key: where the address of the API is set, it would take it for a gateway without one.
func (gemini) prepare(a *API) error {
	home := filepath.Join(a.home(), ".gemini")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	const settings = `{
  "security": {"auth": {"selectedType": "gemini-api-key"}},
  "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
  "privacy": {"usageStatisticsEnabled": false}
}
`
	return os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600)
}

// environ has gemini trust the working directory, which it does not know in its new home and would refuse to work in.
func (gemini) environ(a *API) []string {
	return []string{
		"GEMINI_API_KEY=" + Key, "GOOGLE_GEMINI_BASE_URL=" + a.URL(), "GEMINI_CLI_TRUST_WORKSPACE=true",
		"GEMINI_CLI_HOME=", "GOOGLE_API_KEY=", "GOOGLE_GENAI_USE_VERTEXAI=", "GOOGLE_GENAI_USE_GCA=", "GEMINI_CLI_USE_COMPUTE_ADC=", "CLOUD_SHELL=",
	}
}

// homes are what CLIs want to find in their homes whose profiles are data: homes/pi/agent/models.json becomes ~/.pi/agent/models.json.
//
//go:embed homes
var homes embed.FS

// homesEnviron are the variables that those CLIs want, a line each. One without a value is removed.
//
//go:embed homes.env
var homesEnviron string

// prepare tells those CLIs of a provider.
func (chat) prepare(a *API) error {
	fill := a.places()
	return fs.WalkDir(homes, "homes", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := homes.ReadFile(path)
		if err != nil {
			return err
		}
		file := filepath.Join(a.home(), "."+filepath.FromSlash(strings.TrimPrefix(path, "homes/")))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(fill.Replace(string(text))), 0o600)
	})
}

// places fills in what such files say of the stand-ins.
func (a *API) places() *strings.Replacer { return strings.NewReplacer("{url}", a.URL(), "{key}", Key) }

// environ tells opencode of a provider, and keeps it from asking for models, updates and packages elsewhere.
func (chat) environ(a *API) []string {
	config := encode(object{
		"model": ChatModel, "small_model": ChatModel, "autoupdate": false, "share": "disabled",
		"provider": object{"rehearsal": object{"npm": "@ai-sdk/openai-compatible", "name": "Rehearsal",
			"options": object{"baseURL": a.URL() + "/v1", "apiKey": Key},
			"models": object{"gpt-5": object{"name": "GPT-5", "tool_call": true, "limit": object{"context": 400000, "output": 128000},
				"cost": object{"input": 1.25, "output": 10, "cache_read": 0.125}}}}},
	})
	return append(strings.Fields(a.places().Replace(homesEnviron)),
		"OPENCODE_CONFIG_CONTENT="+string(config), "OPENCODE_CONFIG=", "OPENCODE_CONFIG_DIR=",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_DEFAULT_PLUGINS=1")
}

// ChatModel is the model that opencode is told to use. It has the price of the one that it is named for.
const ChatModel = "rehearsal/gpt-5"
