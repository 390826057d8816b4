package belay

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/completion"
	"github.com/belay-run/belay/internal/command/handover"
	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// New builds the command tree, for programs that describe it.
func New() *cobra.Command { return newRoot(stdio.New(os.Stdin, os.Stdout, os.Stderr)) }

func newRoot(std stdio.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "belay COMMAND",
		Short: "Make calls to agent CLIs, and to the tools around them, dependable",
		Example: `Run claude. Wait for limits to pass, and retry what is safe to retry:
  belay run -- claude -p "Review the last commit"
Retry a flaky command up to three times:
  belay run --max-retries 3 -- curl -sSf https://example.com
Stop a command that takes too long, with everything it has started:
  belay run --timeout 10m -- make deploy
Show what the last week has cost:
  belay stats --since 7d`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if asked, _ := cmd.Flags().GetBool("version"); asked {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "belay", version.Full())
				return err
			}
			if len(args) == 0 {
				return cmd.Help()
			}
			return notACommand(cmd, args[0])
		},
	}
	root.SetIn(std.In) // cobra's completion commands look for it when they are made
	root.SetOut(std.Out)
	root.SetErr(std.Err)
	root.DisableFlagsInUseLine = true
	root.SetHelpFunc(help.Show)
	root.SetFlagErrorFunc(command.WrongFlag)
	for _, r := range table {
		root.AddCommand(r.new())
	}
	root.AddCommand(handover.Commands()...)
	root.SetHelpCommand(help.New(root))
	root.AddCommand(completion.New())
	completion.AddTo(root)
	root.Flags().BoolP("version", "v", false, "print the version") // cobra's own needs templates, and with them the linker keeps every method
	help.AddFlags(root)
	return root
}

// notACommand answers a word that stands where a command of belay should. A program is what is left out of `belay run --`, but
// many commands of a machine are a letter away from one of belay's: stat, top.
func notACommand(root *cobra.Command, word string) error {
	_, notThere := supervise.Look(word, "")
	near, hint := command.Suggest(word, command.CommandsOf(root)), message.See("belay --help")
	switch {
	case word == "version":
		hint = message.DidYouMeanCommand("belay", []string{"--version"})
	case len(near) > 0 && notThere == nil:
		hint = fmt.Sprintf("did you mean belay %s? To run the program: belay run -- %s", near[0], word)
	case notThere == nil:
		hint = "to run it: belay run -- " + word
	case len(near) > 0:
		hint = message.DidYouMeanCommand("belay", near)
	}
	return command.Usage(message.Error(message.NoSuchCommand(word)), hint)
}
