package command

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
)

// Complete makes a completion of arguments of what find returns; those that stand there already are not offered again.
func Complete(find func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, given []string, _ string) ([]string, cobra.ShellCompDirective) {
		list := slices.DeleteFunc(find(), func(one string) bool {
			word, _, _ := strings.Cut(one, "\t")
			return slices.Contains(given, word)
		})
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteProfiles are the profiles, with those that the user's file declares.
func CompleteProfiles() []string {
	config.ReadUser() // what is wrong with it is for belay run to say
	return profile.Names()
}

// CompleteByShell leaves commands and files to the shell.
func CompleteByShell(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}
