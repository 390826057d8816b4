package opencode

import (
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

// The options that we speak of ourselves.
const (
	optFormat   = "--format"
	optLogs     = "--print-logs"
	optLogLevel = "--log-level"
	optSession  = "--session"
	optContinue = "--continue"
	optFork     = "--fork"
	optCommand  = "--command"
	optFile     = "--file"
	optModel    = "--model"
	optAgent    = "--agent"
	optDir      = "--dir"
	optAttach   = "--attach"
	optHelp     = "--help"
	optVersion  = "--version"
	optThinking = "--thinking"
	// optInteractive makes it a conversation with a person.
	optInteractive = "--interactive"
)

// globalOptions are taken before run and after it.
var globalOptions = sync.OnceValue(func() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "--pure", "--help, -h", "--version, -v"),
		agent.Options(agent.NoMeaning, "--print-logs", "--log-level V"))
})

// options are the options of `opencode run` from 1.3 to 1.18, also those that its help does not list. An option that a version does
// not have is refused by that version, with or without us.
var options = sync.OnceValue(func() agent.Table {
	return slices.Concat(globalOptions(),
		agent.Options(agent.OwnMeaning, "--command V", "--continue, -c", "--session, -s V", "--fork", "--share",
			"--agent V", "--file, -f V...", "--attach V", "--password, -p V", "--username, -u V", "--port V",
			"--replay", "--no-replay", "--replay-limit V", "--interactive, -i, --mini, --demo"),
		agent.Options(agent.ModelMeaning, "--model, -m V", "--variant V"),
		agent.Options(agent.FormMeaning, "--format V"),
		agent.Options(agent.NoMeaning, "--title V", "--thinking", "--no-thinking"),
		agent.Options(agent.DirMeaning, "--dir V"),
		agent.Options(agent.AllowAllMeaning, "--auto", "--yolo", "--dangerously-skip-permissions"))
})
