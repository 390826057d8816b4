package opencode

import (
	"time"

	"github.com/belay-run/belay/internal/clientfile"
)

// client are the files in which opencode has MCP servers, measured with 1.18.33. Its hooks are JavaScript, not commands. What the
// administrator of a machine has set (/etc/opencode) and what plugins bring is not for belay to change.
var client = clientfile.Client{
	Name: Name,
	Places: []clientfile.Place{
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeVar: "OPENCODE_CONFIG_DIR", File: "opencode.json", HomeFile: ".config/opencode/opencode.json", Keys: []string{"mcp"}},
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeVar: "OPENCODE_CONFIG_DIR", File: "opencode.jsonc", HomeFile: ".config/opencode/opencode.jsonc", Keys: []string{"mcp"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: "opencode.json", Keys: []string{"mcp"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: "opencode.jsonc", Keys: []string{"mcp"}},
	},
	Limits:      []clientfile.Limit{{Key: "timeout", Unit: time.Millisecond, Flag: "--start-timeout"}},
	NoHooks:     "the hooks of opencode are plugins in JavaScript; belay can stand in front of commands only",
	CommandList: true,
	Remote: clientfile.Remote{
		Kinds:     []clientfile.RemoteKind{{Key: "url", Type: "remote"}},
		StdioType: "local", Headers: "headers", Env: "environment", Own: []string{"oauth"},
		Logins: []clientfile.Place{{HomeVar: "XDG_DATA_HOME", File: "opencode/mcp-auth.json", HomeFile: ".local/share/opencode/mcp-auth.json"}},
	},
	Comments: true,

	TrailingCommas: true,
}
