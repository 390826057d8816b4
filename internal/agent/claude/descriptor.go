package claude

import (
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
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
	Records:        &records,
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

// client are the files in which claude has hooks and MCP servers, measured with 2.1.325. What the administrator of a machine has set
// (/etc/claude-code) and what plugins bring is not for belay to change.
var client = clientfile.Client{
	Name: Name, Launcher: "processWrapper",
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

// request is what the command line asks for.
func (p *Profile) request() agent.Request {
	var r agent.Request
	r.Prompt, _ = p.prompt()
	r.Add(options(), &p.line)
	r.Command(r.Prompt)
	return r
}

// withModel is the command line with another model.
func (p *Profile) withModel(model string) []string {
	rest := p.line.Without(func(a agent.Arg) bool { return a.Name == Descriptor.StandIn.Model })
	// In front, where no option that takes every word that follows can take it.
	return append([]string{p.args[0], Descriptor.StandIn.Model, model}, rest...)
}

// options are the options of claude -p from 1.0.128 to 2.1.325, also those that its help does not list.
var options = sync.OnceValue(func() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "-c, --continue", "-r, --resume [V]", "-w, --worktree [V]", "-h, --help",
			"-v, --version", "--add-dir V...", "--advisor V", "--agent V", "--agents V",
			"--allow-dangerously-skip-permissions", "--allowedTools, --allowed-tools V...",
			"--append-system-prompt V", "--append-system-prompt-file V", "--append-subagent-system-prompt V",
			"--append-subagent-system-prompt-file V", "--autocompact V", "--await-initialize", "--bare", "--brief",
			"--channels V...", "--chrome", "--disable-slash-commands",
			"--disallowedTools, --disallowed-tools V...", "--enable-auth-status",
			"--exclude-dynamic-system-prompt-sections", "--file V...", "--fork-session", "--from-pr [V]", "--ide",
			"--json-schema V", "--managed-settings V", "--managed-settings-in-initialize", "--max-budget-usd V",
			"--max-turns V", "--mcp-config V...", "--no-chrome", "--permission-prompt-tool V",
			"--permission-prompts V", "--plugin-dir V", "--plugin-dir-no-mcp V", "--plugin-url V",
			"--project-config-root V", "--prompt-suggestions [V]", "--replay-user-messages", "--restricted",
			"--resume-drops-turn V", "--resume-session-at V", "--safe-mode", "--sdk-url V", "--session-id V",
			"--session-mirror", "--setting-sources V", "--settings V", "--strict-mcp-config", "--system-prompt V",
			"--system-prompt-file V", "--system-prompt-snapshot V", "--task-budget V", "--tools V...",
			"--workload V"),
		agent.Options(agent.NoMeaning, "-p, --print", "-n, --name V", "-d, --debug [V]", "--ax-screen-reader",
			"--debug-file V", "--debug-to-stderr, -d2e", "--forward-subagent-text", "--include-hook-events",
			"--include-partial-messages", "--mcp-debug", "--verbose"),
		agent.Options(agent.ModelMeaning, "--betas V...", "--effort V", "--fallback-model V", "--fast-mode V",
			"--max-thinking-tokens V", "--model V", "--thinking V", "--thinking-display V"),
		agent.Options(agent.AllowAllMeaning, "--dangerously-skip-permissions"),
		agent.Options(agent.NoSessionMeaning, "--no-session-persistence"),
		agent.Options(agent.FormMeaning, "--output-format V"),
		agent.Table{
			{Names: []string{"--input-format"}, Takes: agent.One, Means: agent.NoMeaning, Only: "text"},
			{Names: []string{"--permission-mode"}, Takes: agent.One, Means: agent.AllowAllMeaning, Only: "bypassPermissions"},
		})
})
