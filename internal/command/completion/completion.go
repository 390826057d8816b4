// Package completion is belay completion, and what flags and arguments are completed with.
package completion

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/profile"
)

// flagValues find the values that flags take, whichever command they are of; commands that are handed over have theirs from
// the table. A flag that takes a file or directory is completed by the shell. They are found when a shell asks: every start comes by
// here, and the clients are in files of which each has to be read.
var flagValues = map[string]func() []string{
	"fallback":      profile.Agents,
	"preset":        profile.Presets,
	"profile":       command.CompleteProfiles,
	"output-format": always("text", "json"),
	"exit-code":     always("child"),
	"on-busy":       always("wait", "replace", "fail"),
	"jitter":        always("full", "none", "proportional:0.2", "additive:0.25", "plus:1s"),
	"resume":        always(belaytype.LastSession),
	"resume-or-new": always(belaytype.LastSession),
	"client":        func() []string { return profile.ClientNames(clientfile.Servers) },
	"scope":         always("user", "local", "project"),
	"signal":        always("HUP", "INT", "QUIT", "KILL", "SEGV", "TERM"),
}

func always(list ...string) func() []string { return func() []string { return slices.Clone(list) } }

// AddTo gives every flag of every command what it can be completed with.
func AddTo(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch find := flagValues[f.Name]; {
			case f.Name == "scope" && f.Value.Type() == "KEY", f.Name == "exit-code" && f.Value.Type() == "N":
				// any value of the user's
			case find != nil:
				cmd.RegisterFlagCompletionFunc(f.Name, command.Complete(find))
			case f.Value.Type() == "FILE":
				cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveDefault))
			case f.Value.Type() == "DIR":
				cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
			}
		})
		for _, c := range cmd.Commands() {
			each(c)
		}
	}
	each(root)
}
