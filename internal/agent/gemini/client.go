package gemini

import (
	"time"

	"github.com/belay-run/belay/internal/clientfile"
)

// client is the file in which gemini has hooks and MCP servers, measured with 0.61.0. What the administrator of a machine has set
// (/etc/gemini-cli) and what extensions bring is not for belay to change.
var client = clientfile.Client{
	Name: Name,
	Places: []clientfile.Place{
		{Kind: clientfile.Hooks, Scope: clientfile.User, HomeFile: ".gemini/settings.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Hooks, Scope: clientfile.Project, File: ".gemini/settings.json", Keys: []string{"hooks"}},
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeFile: ".gemini/settings.json", Keys: []string{"mcpServers"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: ".gemini/settings.json", Keys: []string{"mcpServers"}},
	},
	Grant:  clientfile.Grant{Seconds: 60, Unit: time.Millisecond},
	Limits: []clientfile.Limit{{Key: "timeout", Unit: time.Millisecond, Flag: "--timeout"}},

	Remote: clientfile.Remote{
		Kinds: []clientfile.RemoteKind{{Key: "httpUrl", Flag: "--transport=http"}, {Key: "url"}, {Key: "url", Type: "http", Flag: "--transport http"},
			{Key: "url", Type: "sse", Flag: "--transport sse"}},
		StdioType: "stdio", Headers: "headers", Env: "env", Own: []string{"oauth", "authProviderType", "targetAudience", "targetServiceAccount", "tcp"},
		Logins: []clientfile.Place{{HomeFile: ".gemini/mcp-oauth-tokens.json"}},
	},
	Comments: true,
}
