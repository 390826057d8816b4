package gemini

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

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

// options are the options of gemini from 0.40 to 0.61, also those that its help does not list. It takes their names in camel case
// too. Without a prompt behind -p gemini says how it is used, unless belay has the prompt.
var options = sync.OnceValue(func() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "-r, --resume [V]", "--session-id, --sessionId V",
			"--session-file, --sessionFile V", "-y, --yolo", "-s, --sandbox", "-e, --extensions V",
			"-w, --worktree [V]", "--approval-mode, --approvalMode V", "--policy V",
			"--admin-policy, --adminPolicy V", "--allowed-mcp-server-names, --allowedMcpServerNames V",
			"--allowed-tools, --allowedTools V", "--include-directories, --includeDirectories V",
			"--skip-trust, --skipTrust", "--raw-output, --rawOutput",
			"--accept-raw-output-risk, --acceptRawOutputRisk", "--fake-responses V",
			"--fake-responses-non-strict V", "--record-responses V"),
		agent.Options(agent.PromptMeaning, "-p, --prompt [V]"),
		agent.Options(agent.FormMeaning, "-o, --output-format, --outputFormat V"),
		agent.Options(agent.ModelMeaning, "-m, --model V"),
		agent.Options(agent.NoMeaning, "-d, --debug", "--screen-reader, --screenReader"))
})

// elsewhere are options with which gemini does not work on a request: it talks to a person or to a program, or only tells
// something.
var elsewhere = []string{"-i", "--prompt-interactive", "--promptInteractive", "--acp", "--experimental-acp", "-l", "--list-extensions",
	"--list-sessions", "--delete-session", "-h", "--help", "-v", optVersion}

// commands are words that are no prompt where they come first.
var commands = []string{"mcp", "extensions", "extension", "skills", "skill", "hooks", "hook", "gemma"}

// shellTimeout is how long a command of the shell tool may print nothing, where the user's settings say so; else 0.
func (p *Profile) shellTimeout() time.Duration {
	if p.home == "" {
		return 0
	}
	var s struct {
		Tools struct {
			Shell struct {
				InactivityTimeout json.Number `json:"inactivityTimeout"`
			} `json:"shell"`
		} `json:"tools"`
	}
	json.Unmarshal(agent.ReadSettings(filepath.Join(p.home, "settings.json")), &s)
	return agent.Seconds(s.Tools.Shell.InactivityTimeout.String())
}
