package claude

import (
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

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
