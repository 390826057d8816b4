package opencode

import (
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of opencode.
var Descriptor = agent.Descriptor{
	Name:           Name,
	New:            func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset:         retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Full},
	Tested:         agent.Tested{"1.18.33", "1.18.14"},
	Ask:            []string{"run"},
	StandIn:        agent.StandIn{Model: optModel, AllowAll: "--dangerously-skip-permissions", Open: true},
	MaxInput:       maxInput,
	IsSession:      isSession,
	SessionExample: sessionExample,
	HomeDir:        ".local/share/opencode",
	Install:        []agent.Install{{Command: "npm install -g opencode-ai"}},
	Login: agent.Login{Command: "opencode auth login",
		Variables: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY",
			"GITHUB_TOKEN", "GROQ_API_KEY", "MISTRAL_API_KEY", "DEEPSEEK_API_KEY", "XAI_API_KEY", "AWS_ACCESS_KEY_ID", "OPENCODE_CONFIG_CONTENT"},
		File: "auth.json", None: "no key of a provider and no login were found"},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "chat", Ask: []string{"run", "say hi"}},
}

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

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	var words []string
	for _, a := range p.line.run.Words() {
		words = append(words, a.Values[0])
	}
	r.Prompt = strings.Join(words, " ")
	r.Add(globalOptions(), &p.line.root)
	r.Add(options(), &p.line.run)
	return r
}

// withModel is the command line with another model. An option that opencode is given twice is a list to it.
func (p *Profile) withModel(model string) []string {
	rest := p.line.run.Without(func(a agent.Arg) bool { return a.Name == optModel })
	return slices.Concat(p.args[:1], p.line.root.Args, []string{"run", optModel, model}, rest)
}
