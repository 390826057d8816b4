package opencode

import "github.com/belay-run/belay/internal/agent"

type names = []string

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
var globalOptions = agent.Table{
	{Names: names{optLogs}, Means: agent.NoMeaning},
	{Names: names{optLogLevel}, Takes: agent.One, Means: agent.NoMeaning},
	{Names: names{"--pure"}},
	{Names: names{optHelp, "-h"}},
	{Names: names{optVersion, "-v"}},
}

// options are the options of `opencode run` from 1.3 to 1.18, also those that its help does not list. An option that a version does
// not have is refused by that version, with or without us. They are put together when they are asked for: belay starts for other
// commands too.
func options() agent.Table {
	return append(runOptions[:len(runOptions):len(runOptions)], globalOptions...)
}

var runOptions = agent.Table{
	{Names: names{optCommand}, Takes: agent.One},
	{Names: names{optContinue, "-c"}},
	{Names: names{optSession, "-s"}, Takes: agent.One},
	{Names: names{optFork}},
	{Names: names{"--share"}},
	{Names: names{optModel, "-m"}, Takes: agent.One, Means: agent.ModelMeaning},
	{Names: names{optAgent}, Takes: agent.One},
	{Names: names{optFormat}, Takes: agent.One, Means: agent.FormMeaning},
	{Names: names{optFile, "-f"}, Takes: agent.Many},
	{Names: names{"--title"}, Takes: agent.One, Means: agent.NoMeaning},
	{Names: names{optAttach}, Takes: agent.One},
	{Names: names{"--password", "-p"}, Takes: agent.One},
	{Names: names{"--username", "-u"}, Takes: agent.One},
	{Names: names{optDir}, Takes: agent.One, Means: agent.DirMeaning},
	{Names: names{"--port"}, Takes: agent.One},
	{Names: names{"--variant"}, Takes: agent.One, Means: agent.ModelMeaning},
	{Names: names{optThinking}, Means: agent.NoMeaning},
	{Names: names{"--no-thinking"}, Means: agent.NoMeaning},
	{Names: names{"--auto"}, Means: agent.AllowAllMeaning},
	{Names: names{"--yolo"}, Means: agent.AllowAllMeaning},
	{Names: names{"--dangerously-skip-permissions"}, Means: agent.AllowAllMeaning},
	{Names: names{"--replay"}},
	{Names: names{"--no-replay"}},
	{Names: names{"--replay-limit"}, Takes: agent.One},
	{Names: names{optInteractive, "-i", "--mini", "--demo"}},
}
