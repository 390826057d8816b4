package codex

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
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
	HomeVar:        "CODEX_HOME", HomeDir: ".codex",
	Install: []agent.Install{{Command: "npm install -g @openai/codex"}},
	Login: agent.Login{Command: "codex login", Variables: []string{"CODEX_API_KEY", "OPENAI_API_KEY"}, File: "auth.json",
		None: "no key or login found"},
	SDKs:      []agent.SDK{{Name: "Codex SDK for TypeScript", Setting: "codexPathOverride: %q"}},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "openai", Ask: []string{"exec", "--skip-git-repo-check", "say hi"}},
}
