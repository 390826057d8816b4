package profile

import "github.com/belay-run/belay/internal/clientfile"

// editors are clients that are no CLI that belay runs. They cannot be driven here: cursor is as the code of @cursor/sdk 1.0.32 has it,
// which reads the same files, and vscode as its documentation of November 2026 says.
var editors = []*clientfile.Client{&cursor, &vscode}

// cursor is Cursor, the editor and its CLI. What an administrator (/etc/cursor), a team or plugins bring is not for belay to change.
var cursor = clientfile.Client{
	Name: "cursor",
	Places: []clientfile.Place{
		{Kind: clientfile.Hooks, Scope: clientfile.User, HomeFile: ".cursor/hooks.json", Keys: []string{"hooks"}, Strict: true},
		{Kind: clientfile.Hooks, Scope: clientfile.Project, File: ".cursor/hooks.json", Keys: []string{"hooks"}, Strict: true},
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeFile: ".cursor/mcp.json", Keys: []string{"mcpServers"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: ".cursor/mcp.json", Keys: []string{"mcpServers"}},
	},
	Grant: clientfile.Grant{Seconds: 60},
	Remote: clientfile.Remote{
		Kinds: []clientfile.RemoteKind{{Key: "url"}, {Key: "url", Type: "http", Flag: "--transport http"}, {Key: "url", Type: "sse", Flag: "--transport sse"},
			{Key: "url", Type: "streamable-http", Flag: "--transport=http"}},
		StdioType: "stdio", Headers: "headers", Env: "env", Own: []string{"auth", "oauth", "tls", "placement"},
	},
	SimpleHooks: true,
	UsersShell:  true,
	CommandLine: true,

	Comments: true, TrailingCommas: true,
}

// vscode is Visual Studio Code. Its other profiles, remote machines and dev containers have files of their own.
var vscode = clientfile.Client{
	Name: "vscode",
	Places: []clientfile.Place{
		{Kind: clientfile.Servers, Scope: clientfile.User, HomeVar: configVar, File: "Code/User/mcp.json", HomeFile: configDir + "/Code/User/mcp.json", Keys: []string{"servers"}},
		{Kind: clientfile.Servers, Scope: clientfile.Project, File: ".vscode/mcp.json", Keys: []string{"servers"}},
	},
	NoHooks: "the hooks of vscode are those of other clients, or in .github/hooks; belay does not change these",
	Remote: clientfile.Remote{
		Kinds:     []clientfile.RemoteKind{{Key: "url"}, {Key: "url", Type: "http", Flag: "--transport http"}, {Key: "url", Type: "sse", Flag: "--transport sse"}},
		StdioType: "stdio", Headers: "headers", Env: "env", Own: []string{"oauth", "auth"},
	},
	Comments: true, TrailingCommas: true,
}
