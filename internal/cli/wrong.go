package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

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

// notHelp answers a word after belay help that is neither a command nor a topic.
func notHelp(root *cobra.Command, word string) error {
	err := message.Error(fmt.Sprintf("there is no command or topic %q", word))
	names := command.CommandsOf(root)
	for _, t := range topics {
		names = append(names, t.name)
	}
	if near := command.Suggest(word, names); len(near) > 0 {
		return command.Usage(err, message.DidYouMeanCommand("belay help", near))
	}
	return command.Usage(err, message.See("belay --help"))
}
