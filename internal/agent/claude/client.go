package claude

import (
	"time"

	"github.com/belay-run/belay/internal/clientfile"
)

// client are the files in which claude has hooks and MCP servers, measured with 2.1.325. What the administrator of a machine has set
// (/etc/claude-code) and what plugins bring is not for belay to change.
var client = clientfile.Client{
	Name: Name,
	Places: []clientfile.Place{
		{Kind: clientfile.Hooks, Scope: clientfile.User, HomeVar: "CLAUDE_CONFIG_DIR", File: "settings.json", HomeFile: ".claude/settings.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Hooks, Scope: clientfile.Project, File: ".claude/settings.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Hooks, Scope: clientfile.Local, File: ".claude/settings.local.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeVar: "CLAUDE_CONFIG_DIR", File: ".claude.json", HomeFile: ".claude.json", Keys: []string{"mcpServers"}},
		{Kind: clientfile.Servers, Scope: clientfile.Local, HomeVar: "CLAUDE_CONFIG_DIR", File: ".claude.json", HomeFile: ".claude.json",
			Keys: []string{"projects", clientfile.ProjectKey, "mcpServers"}}, // where `claude mcp add` writes
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: ".mcp.json", Keys: []string{"mcpServers"}},
	},
	Grant:  clientfile.Grant{Seconds: 600, Events: map[string]float64{"SessionEnd": 1.5}},
	Limits: []clientfile.Limit{{Key: "timeout", Unit: time.Millisecond, Flag: "--timeout"}},
	Remote: clientfile.Remote{
		Kinds: []clientfile.RemoteKind{{Key: "url", Type: "http", Flag: "--transport http"}, {Key: "url", Type: "sse", Flag: "--transport sse"},
			{Key: "url", Type: "streamable-http", Flag: "--transport=http"}},
		StdioType: "stdio", Headers: "headers", Env: "env", Own: []string{"headersHelper", "oauth"},
		Logins: []clientfile.Place{{HomeVar: "CLAUDE_CONFIG_DIR", File: ".credentials.json", HomeFile: ".claude/.credentials.json"},
			{HomeVar: "CLAUDE_CONFIG_DIR", File: "mcp-needs-auth-cache.json", HomeFile: ".claude/mcp-needs-auth-cache.json"}},
	},
	AfterInstall: "open sessions may continue with the hooks they have already read",
}
