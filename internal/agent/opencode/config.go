package opencode

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// config is what we look for in the config.
type config struct {
	Model    string                    `json:"model"`
	Provider map[string]configProvider `json:"provider"`
}

type configProvider struct {
	Options struct {
		BaseURL string `json:"baseURL"`
		APIKey  string `json:"apiKey"`
		// How long the service may say nothing before its answer and in it: a number of milliseconds, or false for no limit.
		HeaderTimeout json.RawMessage `json:"headerTimeout"`
		ChunkTimeout  json.RawMessage `json:"chunkTimeout"`
	} `json:"options"`
}

// silence is how long the service may say nothing, as the config says: negative for no limit, 0 if it does not say.
func (p *configProvider) silence() (d time.Duration) {
	for _, value := range []json.RawMessage{p.Options.HeaderTimeout, p.Options.ChunkTimeout} {
		if string(value) == "false" {
			return -1
		}
		d = max(d, agent.Milliseconds(string(value)))
	}
	return d
}

// userFiles are the user's files that opencode reads, the later winning.
func userFiles(env []string) (paths []string) {
	global := agent.Getenv(env, "XDG_CONFIG_HOME")
	if global == "" {
		if home := userHome(env); home != "" {
			global = filepath.Join(home, ".config")
		}
	}
	if global != "" {
		for _, name := range []string{"config.json", "opencode.json", "opencode.jsonc"} {
			paths = append(paths, filepath.Join(global, Name, name))
		}
	}
	if own := agent.Getenv(env, "OPENCODE_CONFIG"); own != "" {
		paths = append(paths, own)
	}
	return paths
}

// projectFiles are the files of the directory, and of those above it up to the top of the repository. They come after the user's.
func projectFiles(env []string, dir string) (paths []string) {
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if !filepath.IsAbs(dir) || agent.Getenv(env, "OPENCODE_DISABLE_PROJECT_CONFIG") != "" {
		return nil
	}
	for {
		paths = append([]string{filepath.Join(dir, "opencode.json"), filepath.Join(dir, "opencode.jsonc")}, paths...)
		up := filepath.Dir(dir)
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil || up == dir {
			return paths
		}
		dir = up
	}
}

// merge takes over what a config says. How long to wait only the user's may say, since that is how long Belay waits.
func (c *config) merge(text []byte, users bool) {
	var other config
	if len(text) == 0 || json.Unmarshal(plainJSON(text), &other) != nil {
		return
	}
	c.Model = cmp.Or(other.Model, c.Model)
	for name, p := range other.Provider {
		if c.Provider == nil {
			c.Provider = map[string]configProvider{}
		}
		had := c.Provider[name]
		had.Options.BaseURL = cmp.Or(p.Options.BaseURL, had.Options.BaseURL)
		had.Options.APIKey = cmp.Or(p.Options.APIKey, had.Options.APIKey)
		for to, from := range map[*json.RawMessage]json.RawMessage{&had.Options.HeaderTimeout: p.Options.HeaderTimeout, &had.Options.ChunkTimeout: p.Options.ChunkTimeout} {
			if from != nil && users {
				*to = from
			}
		}
		c.Provider[name] = had
	}
}

// In what opencode allows beside JSON: comments, and a comma before a bracket that closes. Strings may hold either.
var (
	comments = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"?|//[^\n]*|/\*.*?(?:\*/|$)`) })
	commas   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)("(?:[^"\\]|\\.)*")|,(\s*[}\]])`) })
)

// plainJSON is JSON without the comments and the commas at the end that opencode allows.
func plainJSON(text []byte) []byte {
	text = comments().ReplaceAllFunc(text, func(piece []byte) []byte {
		if piece[0] == '"' {
			return piece
		}
		return []byte(" ")
	})
	return commas().ReplaceAll(text, []byte("$1$2"))
}
