package cli

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/printable"
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

// addCompletions gives every flag of every command what it can be completed with.
func addCompletions(root *cobra.Command) {
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

// completeGates are the gates that are not healthy.
func completeGates() (list []string) {
	gates, _ := command.Gates()
	for _, g := range gates {
		list = append(list, printable.Line(g.Key))
	}
	return list
}

// completeRuns are the runs under way.
func completeRuns() (list []string) {
	runs, _ := command.RunsNow()
	for _, r := range runs {
		list = append(list, command.DescribeRun(r.ID, r.Command))
	}
	return list
}

// completePast are the last runs of the log, the newest first. It is read here, without belayd: a shell asks at every key.
func completePast() (list []string) {
	s, err := command.OpenState()
	if err != nil {
		return nil
	}
	var recent []journal.Entry
	s.Recent(32<<10, func(e journal.Entry) { recent = append(recent, e) })
	seen := map[string]bool{}
	for _, e := range slices.Backward(recent) {
		if e.Kind != "" || e.Invocation == "" || seen[e.Invocation] {
			continue
		}
		seen[e.Invocation] = true
		list = append(list, cobra.CompletionWithDesc(printable.Line(command.ShortID(e.Invocation)), printable.Line(e.Command)+", "+e.Timestamp.Local().Format("15:04:05")))
	}
	return list
}
