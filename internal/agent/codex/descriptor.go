package codex

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of codex.
var Descriptor = agent.Descriptor{
	Name:   Name,
	New:    func(args, env []string, dir string) agent.Profile { return New(args, env, dir) },
	Preset: retry.Policy{MaxRetries: 3, BaseDelay: time.Second, MaxDelay: time.Minute, Jitter: retry.Full},
	Tested: agent.Tested{"0.166.0", "0.150.1"},
	Ask:    []string{"exec"},
	// Outside of a repository codex does not start unless it is told to; no other CLI has such a check.
	StandIn: agent.StandIn{Ask: []string{"exec", "--skip-git-repo-check"}, Model: "--model",
		AllowAll: "--dangerously-bypass-approvals-and-sandbox", NoSession: "--ephemeral"},
	MaxInput:       maxChars * 4, // of UTF-8
	IsSession:      agent.IsUUID,
	SessionExample: agent.UUIDExample,
	Recall:         Recall,
	Records:        &records,
	HomeVar:        "CODEX_HOME", HomeDir: ".codex",
	Install: []agent.Install{{Command: "npm install -g @openai/codex"}},
	Login: agent.Login{Command: "codex login", Variables: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, File: "auth.json",
		None: "no key or login found"},
	SDKs:      []agent.SDK{{Name: "Codex SDK for TypeScript", Setting: "codexPathOverride: %q"}},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "openai", Ask: []string{"exec", "--skip-git-repo-check", "say hi"}},
}

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

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	if _, word := p.line.prompt(); word != nil && word.Values[0] != "-" {
		r.Prompt = word.Values[0]
	}
	switch {
	case p.line.resumes:
		r.Own = "resume"
	case p.line.reviews:
		r.Own = "review"
	}
	r.Add(rootOptions(), &p.line.root)
	r.Add(execOptions(), &p.line.exec)
	return r
}

// withModel is the command line with another model.
func (p *Profile) withModel(model string) []string {
	named := func(a agent.Arg) bool { return a.Name == Descriptor.StandIn.Model }
	l := p.line
	l.root.Args, l.exec.Args = l.root.Without(named), l.exec.Without(named)
	l.resume.Args, l.review.Args = l.resume.Without(named), l.review.Without(named)
	l.added = []string{Descriptor.StandIn.Model, model}
	return append([]string{p.args[0]}, l.args()...)
}
