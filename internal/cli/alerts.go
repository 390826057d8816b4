package cli

import "github.com/spf13/cobra"

func newAlerts() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "alerts",
		Short: "Show what has failed again and again",
		Example: `  belay alerts --since 7d
  belay alerts --integration claude --json`,
		Long: `An alert is raised when an integration (a profile, mcp:SERVER, hook:NAME) has failed for good five
times within ten minutes, once until it has been better for ten minutes. It is said on stderr by
the run that raised it, and given to the command or webhook of your config.toml:

  [alert]
  failures = 5              # 0 turns alerts off
  within = "10m"
  command = ["notify-send", "belay"]      # gets the alert as JSON on stdin
  webhook = "https://example.com/hook"    # gets it posted
  [alert.claude]            # for one integration
  failures = 20`,
		Args: noArgs,
	}
	f := cmd.Flags()
	addCount(f, "50")
	addWord(f, "integration", "NAME", "only alerts of this integration")
	addTimes(f)
	cmd.RunE = askCompanion("alerts")
	return cmd
}
