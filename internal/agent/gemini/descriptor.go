package gemini

import (
	"slices"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of gemini.
var Descriptor = agent.Descriptor{
	Name:           Name,
	New:            func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset:         retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Full},
	Tested:         agent.Tested{"0.61.0", "0.40.0"},
	Ask:            []string{"-p"},
	StandIn:        agent.StandIn{Ask: []string{"-p", ""}, Model: optModel},
	MaxInput:       MaxInput,
	IsSession:      agent.IsUUID,
	SessionExample: agent.UUIDExample,
	Recall:         Recall,
	HomeDir:        ".gemini",
	Install:        []agent.Install{{Command: "npm install -g @google/gemini-cli"}},
	Login: agent.Login{
		Command:   "gemini", // which asks how, and opens a browser
		Variables: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA", "GOOGLE_APPLICATION_CREDENTIALS"},
		File:      "oauth_creds.json", None: "no key and no login were found",
	},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "google", Ask: []string{"-p", "say hi"}},
}

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

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	r := agent.Request{Prompt: p.prompt()}
	r.Add(options(), &p.line)
	r.Command(r.Prompt)
	return r
}

// withModel is the command line with another model. An option that gemini is given twice is a list to it.
func (p *Profile) withModel(model string) []string {
	rest := p.line.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], []string{optModel, model}, rest)
}
