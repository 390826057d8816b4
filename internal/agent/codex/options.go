package codex

import "github.com/belay-run/belay/internal/agent"

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
// version has no more is refused by that version, with or without us. They are put together when they are asked for: belay starts
// for other commands too.
func rootOptions() agent.Table {
	return table(common, workspace, agent.Table{
		{Names: []string{optImage, "-i"}, Takes: agent.Many},
		{Names: []string{"--remote"}, Takes: agent.One},
		{Names: []string{"--remote-auth-token-env"}, Takes: agent.One},
		{Names: []string{"--ask-for-approval", "-a"}, Takes: agent.One},
		{Names: []string{"--search"}},
		{Names: []string{"--no-alt-screen"}, Means: agent.NoMeaning},
		{Names: []string{"--no-daemon"}},
	})
}

func execOptions() agent.Table {
	return table(common, workspace, headless, agent.Table{
		{Names: []string{optImage, "-i"}, Takes: agent.Many},
		{Names: []string{"--color"}, Takes: agent.One, Means: agent.NoMeaning},
	})
}

func resumeOptions() agent.Table {
	return table(common, headless, agent.Table{
		{Names: []string{optImage, "-i"}, Takes: agent.One}, // not variadic here
		{Names: []string{optLast}},
		{Names: []string{optAll}},
	})
}

func reviewOptions() agent.Table {
	return table(common, headless, agent.Table{
		{Names: []string{"--uncommitted"}},
		{Names: []string{"--base"}, Takes: agent.One},
		{Names: []string{"--commit"}, Takes: agent.One},
		{Names: []string{"--title"}, Takes: agent.One},
	})
}

// common are taken everywhere.
var common = agent.Table{
	{Names: []string{optConfig, "-c"}, Takes: agent.One},
	{Names: []string{"--enable"}, Takes: agent.One},
	{Names: []string{"--disable"}, Takes: agent.One},
	{Names: []string{"--strict-config"}},
	{Names: []string{"--model", "-m"}, Takes: agent.One, Means: agent.ModelMeaning},
	{Names: []string{"--full-auto"}},
	{Names: []string{"--dangerously-bypass-approvals-and-sandbox", "--yolo"}, Means: agent.AllowAllMeaning},
	{Names: []string{"--dangerously-bypass-hook-trust"}},
	{Names: []string{optWorktree}},
	{Names: []string{optHelp, "-h", "--version", "-V"}}, // neither does any work
}

// workspace are taken before resume only.
var workspace = agent.Table{
	{Names: []string{optOSS}},
	{Names: []string{"--local-provider"}, Takes: agent.One},
	{Names: []string{"--profile", "-p"}, Takes: agent.One},
	{Names: []string{"--sandbox", "-s"}, Takes: agent.One},
	{Names: []string{"--approve-for-me"}},
	{Names: []string{optDir, "-C"}, Takes: agent.One, Means: agent.DirMeaning},
	{Names: []string{"--add-dir"}, Takes: agent.One},
}

// headless are the options of exec that resume and review take too.
var headless = agent.Table{
	{Names: []string{"--thread-source"}, Takes: agent.One, Means: agent.NoMeaning},
	{Names: []string{"--cyber-access-program"}, Takes: agent.One},
	{Names: []string{"--skip-git-repo-check"}, Means: agent.NoMeaning},
	{Names: []string{"--ephemeral"}, Means: agent.NoSessionMeaning},
	{Names: []string{"--ignore-user-config"}},
	{Names: []string{"--ignore-rules"}},
	{Names: []string{"--output-schema"}, Takes: agent.One},
	{Names: []string{optJSON, "--experimental-json"}, Means: agent.FormMeaning},
	{Names: []string{"--output-last-message", "-o"}, Takes: agent.One},
}

func table(parts ...agent.Table) (all agent.Table) {
	for _, part := range parts {
		all = append(all, part...)
	}
	return all
}
