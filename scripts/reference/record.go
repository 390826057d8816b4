package main

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/internal/belayd"
)

// described are commands that have a document of their own, which names their flags.
var described = map[string]bool{belayd.Rehearse: true, belayd.UI: true, belayd.Fleet: true, "top": true, belayd.Certify: true}

// recordFlags is a table of the flags of the commands that belayd carries out; one row for all that have it with the same words.
func recordFlags() string {
	var rows []string
	commands := map[string][]string{}
	for _, c := range belayd.Commands() {
		if described[strings.Fields(c.Name)[0]] {
			continue
		}
		for _, f := range c.Flags {
			if f.Hidden {
				continue
			}
			row := recordRow(f)
			if commands[row] == nil {
				rows = append(rows, row)
			}
			commands[row] = append(commands[row], "`"+c.Name+"`")
		}
	}
	table := "| flag | of | |\n|---|---|---|\n"
	for _, row := range rows {
		table += fmt.Sprintf(row, strings.Join(commands[row], ", "))
	}
	return table
}

// recordRow is a line of the table, with a place for the commands.
func recordRow(f belayd.Flag) string {
	name := "--" + f.Name
	switch f.Short {
	case "":
	case f.Name:
		name = "-" + f.Name
	default:
		name = "-" + f.Short + "`, `" + name
	}
	if f.Arg != "" {
		name += " " + f.Arg
	}
	return "| `" + name + "` | %s | " + strings.ReplaceAll(f.Help, "%", "%%") + " |\n"
}
