package claude

import (
	"fmt"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/retry"
)

// Descriptor is what is known of claude.
var Descriptor = agent.Descriptor{
	Name:           Name,
	New:            func(args, env []string, _ string) agent.Profile { return New(args, env) },
	Preset:         retry.Policy{MaxRetries: 4, BaseDelay: 2 * time.Second, MaxDelay: 2 * time.Minute, Jitter: retry.Proportional(0.2)},
	Tested:         agent.Tested{"2.1.325", "2.1.197", "2.0.77"},
	Ask:            []string{"-p"},
	StandIn:        agent.StandIn{Model: "--model", AllowAll: "--dangerously-skip-permissions", NoSession: "--no-session-persistence"},
	MaxInput:       MaxInput,
	Plain:          plain,
	IsSession:      agent.IsUUID,
	SessionExample: agent.UUIDExample,
	Recall:         Recall,
	OwnLog:         ownLog,
	Variables: []agent.Variable{
		{Name: "CLAUDE_MAX_RETRIES", Setting: "max-retries", Convert: retries},
		{Name: "CLAUDE_BASE_DELAY", Setting: "base-delay"},
		{Name: "CLAUDE_MAX_DELAY", Setting: "max-delay"},
		{Name: "CLAUDE_JITTER_FACTOR", Setting: "jitter", Convert: func(v string) (string, error) { return "proportional:" + v, nil }},
		{Name: "CLAUDE_LOG_DIR", Setting: "log-dir"},
	},
	HomeVar: "CLAUDE_CONFIG_DIR", HomeDir: ".claude",
	Install: []agent.Install{{Command: "npm install -g @anthropic-ai/claude-code"}},
	Login: agent.Login{
		Command: "claude auth login",
		Variables: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK",
			"CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"},
		File: ".credentials.json", Keychain: true, None: "no key or login found",
	},
	SDKs: []agent.SDK{
		{Name: "Claude Agent SDK for TypeScript", Setting: "pathToClaudeCodeExecutable: %q"},
		{Name: "Claude Agent SDK for Python", Setting: "cli_path=%q"},
	},
	Client:    &client,
	Rehearsal: agent.Rehearsal{Vendor: "anthropic", Ask: []string{"-p", "say hi"}},
}

// ownLog is where scripts around claude have long kept a log of its invocations.
const ownLog = "claude_invocations.jsonl"

// retries makes a number of retries of CLAUDE_MAX_RETRIES, which counts attempts, and so cannot be 0.
func retries(attempts string) (string, error) {
	n, err := strconv.Atoi(attempts)
	if err != nil || n < 1 {
		return "", fmt.Errorf("%q is not a number of attempts; it counts the first one too, so at least 1", attempts)
	}
	return strconv.Itoa(n - 1), nil
}
