package codex

import (
	"slices"
	"sync"

	"github.com/belay-run/belay/internal/agent"
)

// The options that we speak of ourselves.
const (
	optJSON   = "--json"
	optImage  = "--image"
	optConfig = "--config"
	optLast   = "--last"
	optAll    = "--all"
	optHelp   = "--help"
	optOSS    = "--oss"
	optDir    = "--cd"
	// optWorktree makes a new worktree and works there.
	optWorktree = "--worktree"
)

// What each part of `codex ROOT exec EXEC resume RESUME` and `… review REVIEW` can hold: all that 0.120 to 0.166 know. An option that a
// version has no more is refused by that version, with or without us.

var rootOptions = sync.OnceValue(func() agent.Table {
	return slices.Concat(common(), workspace(),
		agent.Options(agent.OwnMeaning, "--image, -i V...", "--remote V", "--remote-auth-token-env V",
			"--ask-for-approval, -a V", "--search", "--no-daemon"),
		agent.Options(agent.NoMeaning, "--no-alt-screen"))
})

var execOptions = sync.OnceValue(func() agent.Table {
	return slices.Concat(common(), workspace(), headless(),
		agent.Options(agent.OwnMeaning, "--image, -i V..."),
		agent.Options(agent.NoMeaning, "--color V"))
})

// In resume -i takes one file only.
var resumeOptions = sync.OnceValue(func() agent.Table {
	return slices.Concat(common(), headless(),
		agent.Options(agent.OwnMeaning, "--image, -i V", "--last", "--all"))
})

var reviewOptions = sync.OnceValue(func() agent.Table {
	return slices.Concat(common(), headless(),
		agent.Options(agent.OwnMeaning, "--uncommitted", "--base V", "--commit V", "--title V"))
})

// common are taken everywhere.
func common() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "--config, -c V", "--enable V", "--disable V", "--strict-config",
			"--full-auto", "--dangerously-bypass-hook-trust", "--worktree", "--help, -h, --version, -V"),
		agent.Options(agent.ModelMeaning, "--model, -m V"),
		agent.Options(agent.AllowAllMeaning, "--dangerously-bypass-approvals-and-sandbox, --yolo"))
}

// workspace are taken before resume only.
func workspace() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "--oss", "--local-provider V", "--profile, -p V", "--sandbox, -s V",
			"--approve-for-me", "--add-dir V"),
		agent.Options(agent.DirMeaning, "--cd, -C V"))
}

// headless are the options of exec that resume and review take too.
func headless() agent.Table {
	return slices.Concat(
		agent.Options(agent.OwnMeaning, "--cyber-access-program V", "--ignore-user-config", "--ignore-rules",
			"--output-schema V", "--output-last-message, -o V"),
		agent.Options(agent.NoMeaning, "--thread-source V", "--skip-git-repo-check"),
		agent.Options(agent.NoSessionMeaning, "--ephemeral"),
		agent.Options(agent.FormMeaning, "--json, --experimental-json"))
}
