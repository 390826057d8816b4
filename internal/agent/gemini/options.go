package gemini

import "github.com/belay-run/belay/internal/agent"

// The options that we speak of ourselves.
const (
	optPrompt  = "-p"
	optFormat  = "-o"
	optResume  = "-r"
	optID      = "--session-id"
	optFile    = "--session-file"
	optModel   = "-m"
	optVersion = "--version"
)

type names = []string

// options are the options of gemini from 0.40 to 0.61, also those that its help does not list. It takes their names in camel case too.
var options = agent.Table{
	{Names: names{optPrompt, "--prompt"}, Takes: agent.Optional, Means: agent.PromptMeaning}, // without one gemini says how it is used, unless belay has the prompt
	{Names: names{optFormat, "--output-format", "--outputFormat"}, Takes: agent.One, Means: agent.FormMeaning},
	{Names: names{optModel, "--model"}, Takes: agent.One, Means: agent.ModelMeaning},
	{Names: names{optResume, "--resume"}, Takes: agent.Optional},
	{Names: names{optID, "--sessionId"}, Takes: agent.One},
	{Names: names{optFile, "--sessionFile"}, Takes: agent.One},
	{Names: names{"-y", "--yolo"}},
	{Names: names{"-s", "--sandbox"}},
	{Names: names{"-d", "--debug"}, Means: agent.NoMeaning},
	{Names: names{"-e", "--extensions"}, Takes: agent.One},
	{Names: names{"-w", "--worktree"}, Takes: agent.Optional},
	{Names: names{"--approval-mode", "--approvalMode"}, Takes: agent.One},
	{Names: names{"--policy"}, Takes: agent.One},
	{Names: names{"--admin-policy", "--adminPolicy"}, Takes: agent.One},
	{Names: names{"--allowed-mcp-server-names", "--allowedMcpServerNames"}, Takes: agent.One},
	{Names: names{"--allowed-tools", "--allowedTools"}, Takes: agent.One},
	{Names: names{"--include-directories", "--includeDirectories"}, Takes: agent.One},
	{Names: names{"--skip-trust", "--skipTrust"}},
	{Names: names{"--screen-reader", "--screenReader"}, Means: agent.NoMeaning},
	{Names: names{"--raw-output", "--rawOutput"}},
	{Names: names{"--accept-raw-output-risk", "--acceptRawOutputRisk"}},
	{Names: names{"--fake-responses"}, Takes: agent.One},
	{Names: names{"--fake-responses-non-strict"}, Takes: agent.One},
	{Names: names{"--record-responses"}, Takes: agent.One},
}

// elsewhere are options with which gemini does not work on a request: it talks to a person or to a program, or only tells
// something.
var elsewhere = []string{"-i", "--prompt-interactive", "--promptInteractive", "--acp", "--experimental-acp", "-l", "--list-extensions",
	"--list-sessions", "--delete-session", "-h", "--help", "-v", optVersion}

// commands are words that are no prompt where they come first.
var commands = []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}
