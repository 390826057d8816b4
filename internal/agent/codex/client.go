package codex

import (
	"time"

	"github.com/belay-run/belay/internal/clientfile"
)

// client are the files in which codex has hooks and MCP servers, measured with 0.166.0. What the administrator of a machine has set
// (/etc/codex) and what plugins bring is not for belay to change.
var client = clientfile.Client{
	Name: Name,
	Places: []clientfile.Place{
		{Kind: clientfile.Hooks, Scope: clientfile.User, HomeVar: "CODEX_HOME", File: "hooks.json", HomeFile: ".codex/hooks.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Hooks, Scope: clientfile.User, HomeVar: "CODEX_HOME", File: "config.toml", HomeFile: ".codex/config.toml", Format: clientfile.TOML, Keys: []string{"hooks"}, LeftAlone: true},
		{Kind: clientfile.Hooks, Scope: clientfile.Project, File: ".codex/hooks.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Hooks, Scope: clientfile.Project, File: ".codex/config.toml", Format: clientfile.TOML, Keys: []string{"hooks"}, LeftAlone: true},
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeVar: "CODEX_HOME", File: "config.toml", HomeFile: ".codex/config.toml", Format: clientfile.TOML, Keys: []string{"mcp_servers"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: ".codex/config.toml", Format: clientfile.TOML, Keys: []string{"mcp_servers"}},
	},
	Grant: clientfile.Grant{Seconds: 600, Events: map[string]float64{"SessionEnd": 1}, Max: map[string]float64{"SessionEnd": 3}},
	Limits: []clientfile.Limit{{Key: "tool_timeout_sec", Unit: time.Second, Flag: "--timeout"},
		{Key: "startup_timeout_sec", Unit: time.Second, Flag: "--start-timeout"}},
	Remote: clientfile.Remote{
		Kinds: []clientfile.RemoteKind{{Key: "url"}}, Headers: "http_headers", Env: "env",
		Bearer: "bearer_token_env_var", HeaderVars: "env_http_headers", Vars: "env_vars",
		Own:    []string{"http_headers_helper", "oauth", "oauth_resource", "scopes", "bearer_token", "auth", "environment_id"},
		Logins: []clientfile.Place{{HomeVar: "CODEX_HOME", File: ".credentials.json", HomeFile: ".codex/.credentials.json"}},
	},
	AfterInstall:   "codex runs a changed hook only after you have approved it: start codex and type /hooks",
	AfterUninstall: "codex runs a changed hook only after you have approved it: start codex and type /hooks",
	UsersShell:     true,
}
