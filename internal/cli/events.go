package cli

import "github.com/spf13/cobra"

func newEvents() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "events",
		Short: "Show what failed for good: runs, hooks and MCP servers",
		Example: `  belay events --since 1h
  belay events --category hook
  belay events --profile claude --json`,
		Long: `Shows final failures only: not the attempts that were repeated, nor what a person interrupted or a
gate refused. --json has the context: error, class, retries, the run, and of hooks and MCP tools
what they were called with, as far as that may be kept.`,
		Args: noArgs,
	}
	f := cmd.Flags()
	addCount(f, "50")
	addWord(f, "category", "KIND", "one of integration, hook and mcp")
	addWord(f, "session", "ID", "only this session")
	addNarrowing(f)
	addTimes(f)
	cmd.RunE = askCompanion("events")
	return cmd
}
