package opencode

import (
	"time"

	"github.com/belay-run/belay/internal/agent"
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
