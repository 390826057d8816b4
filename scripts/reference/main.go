// reference makes the tables of docs/reference.md and docs/record.md from the code: settings, exit codes, commands and their flags. What stands
// between the tables is written by hand.
//
//	go run ./scripts/reference
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/config"
)

func main() {
	for _, d := range documents {
		if err := d.write(); err != nil {
			fmt.Fprintln(os.Stderr, "reference:", err)
			os.Exit(1)
		}
	}
}

// document is a file with tables that are made.
type document struct {
	path  string
	parts []part
}

// part is a table, by the name that its markers have.
type part struct {
	name string
	make func() string
}

var documents = []document{
	{"docs/reference.md", []part{{"exit codes", exitCodes}, {"settings", settings}, {"commands", commands}}},
	{"docs/record.md", []part{{"flags", recordFlags}}},
}

func (d *document) write() error {
	text, err := os.ReadFile(d.path)
	if err != nil {
		return err
	}
	renewed, err := d.renew(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(d.path, []byte(renewed), 0o644)
}

// renew puts the tables of today between their markers.
func (d *document) renew(text string) (string, error) {
	for _, p := range d.parts {
		begin, end := "<!-- "+p.name+": made by go run ./scripts/reference -->\n", "<!-- "+p.name+": end -->\n"
		before, rest, found := strings.Cut(text, begin)
		_, after, ended := strings.Cut(rest, end)
		if !found || !ended {
			return "", fmt.Errorf("%s: the markers of the %s are missing", d.path, p.name)
		}
		text = before + begin + p.make() + end + after
	}
	return text, nil
}

func exitCodes() string {
	var b strings.Builder
	b.WriteString("| code | meaning |\n|---|---|\n")
	for _, c := range help.ExitCodes() {
		fmt.Fprintf(&b, "| %s | %s |\n", c.Code, marked(c.Meaning))
	}
	return b.String()
}

func settings() string {
	var b strings.Builder
	b.WriteString("| flag | meaning (default) | where |\n|---|---|---|\n")
	for _, group := range config.Groups {
		fmt.Fprintf(&b, "| **%s** | | |\n", group)
		for i := range config.Table {
			if s := &config.Table[i]; s.Group == group {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", flagCell(s.Name, "", s.Arg), marked(s.Help()), s.Where())
			}
		}
	}
	return b.String()
}

// commands are a table of all commands, and one of the flags of each.
func commands() string {
	var list, flags strings.Builder
	list.WriteString("| command | what it does |\n|---|---|\n")
	walk(belay.New(), func(cmd *cobra.Command) {
		own := ownFlags(cmd)
		if len(own) > 0 || !cmd.HasAvailableSubCommands() { // what has neither only leads to others
			fmt.Fprintf(&list, "| `%s` | %s |\n", cell(strings.Replace(cmd.UseLine(), " [flags]", "", 1)), marked(cmd.Short))
		}
		if len(own) == 0 {
			return
		}
		fmt.Fprintf(&flags, "\n### %s\n\n| flag | meaning |\n|---|---|\n", cmd.CommandPath())
		for _, f := range own {
			arg := f.Value.Type()
			if arg == "bool" {
				arg = ""
			}
			fmt.Fprintf(&flags, "| %s | %s |\n", flagCell(f.Name, f.Shorthand, arg), marked(f.Usage))
		}
	})
	return list.String() + flags.String()
}

// ownFlags are the flags of a command that are not settings.
func ownFlags(cmd *cobra.Command) (list []*pflag.Flag) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		setting := len(f.Annotations) > 0 && config.Find(f.Name) != nil
		if !f.Hidden && f.Name != "help" && f.Name != "no-descriptions" && !setting {
			list = append(list, f)
		}
	})
	return list
}

// walk visits a command and those below it.
func walk(cmd *cobra.Command, visit func(*cobra.Command)) {
	visit(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			walk(c, visit)
		}
	}
}

// flagCell is a flag with what it takes.
func flagCell(name, short, arg string) string {
	text := "--" + name
	switch short {
	case "":
	case name:
		text = "-" + name
	default:
		text = "-" + short + ", " + text
	}
	return "`" + cell(strings.TrimSpace(text+strings.Replace(" "+arg, " [", "[", 1))) + "`"
}

// flagName is how a text names a flag.
var flagName = regexp.MustCompile(`(^|[ (])(--[a-z][a-z-]*[a-z](?: [0-9]+)?)`)

// marked is a text with the flags that it names set as code.
func marked(text string) string { return flagName.ReplaceAllString(cell(text), "$1`$2`") }

// cell is a text that does not end the cell that it stands in.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
