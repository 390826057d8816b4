// Package completion is belay completion, and what flags and arguments are completed with.
package completion

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/profile"
)

// flagValues are the values that flags take, whichever command they are of; commands that are handed over have theirs from
// the table. A flag that takes a file or directory is completed by the shell.
func flagValues() map[string][]string {
	return map[string][]string{
		"fallback": profile.Agents(), "preset": profile.Presets(),
		"output-format": {"text", "json"}, "exit-code": {"child"}, "on-busy": {"wait", "replace", "fail"},
		"jitter": {"full", "none", "proportional:0.2", "additive:0.25", "plus:1s"},
		"resume": {belaytype.LastSession}, "resume-or-new": {belaytype.LastSession},
		"client": profile.ClientNames(clientfile.Servers), "scope": {"user", "local", "project"},
		"signal": {"HUP", "INT", "QUIT", "KILL", "SEGV", "TERM"},
	}
}

// AddTo gives every flag of every command what it can be completed with.
func AddTo(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	known := flagValues()
	var each func(*cobra.Command)
	each = func(cmd *cobra.Command) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			switch list := known[f.Name]; {
			case f.Name == "scope" && f.Value.Type() == "KEY", f.Name == "exit-code" && f.Value.Type() == "N":
				// any value of the user's
			case f.Name == "profile":
				cmd.RegisterFlagCompletionFunc(f.Name, command.Complete(command.CompleteProfiles))
			case list != nil:
				cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
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
