package help

import "github.com/spf13/cobra"

// commandGroups are the headings of the commands in belay --help, by what one wants to do. What is in none comes last.
var commandGroups = []struct {
	heading string
	names   []string
}{
	{"Start here", []string{"run", "batch", "log", "stats", "ui", "limits", "rehearse", "doctor"}},
	{"While it runs", []string{"ps", "top", "attach", "cancel", "gates", "budget", "fleet"}},
	{"Afterwards", []string{"explain", "sessions", "trees", "report", "prices", "metrics", "telemetry", "prune"}},
	{"In front of agents", []string{"shim", "hook", "mcp", "profile"}},
	{"Setup and trials", []string{"config", "completion", "certify", "demo", "uninstall-all"}},
}

// commandRows shows the commands below one, those of the root under their headings.
func commandRows(cmd *cobra.Command, show func(heading string, rows []row)) {
	texts := map[string]string{}
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			texts[c.Name()] = c.Short
			names = append(names, c.Name())
		}
	}
	take := func(heading string, names []string) {
		var rows []row
		for _, name := range names {
			if text, there := texts[name]; there {
				rows = append(rows, row{name, text})
				delete(texts, name)
			}
		}
		show(heading, rows)
	}
	for _, g := range commandGroups {
		if !cmd.HasParent() {
			take(g.heading, g.names)
		}
	}
	take("Commands", names)
}
