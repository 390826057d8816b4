package help

import (
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/profile"
)

// topic is something that belay help explains beside the commands.
type topic struct {
	name, short string
	also        []string      // further names for it
	text        func() string // nil if the command of that name explains it
}

// topics are the topics of belay help, in the order of the list there.
var topics = []topic{
	{"verdicts", "What Belay makes of an outcome: the classes, and what follows", []string{"verdict", "classes", "class"}, verdictsText},
	{"gates", "How processes share one limit", []string{"gate", "breaker"}, nil},
	{"exit-codes", "What the exit codes of belay run mean", []string{"exit", "exit-code", "exitcodes", "codes"}, exitCodesText},
	{"config", "Where settings can be given, and which of them wins", []string{"settings", "configuration"}, nil},
	{"environment", "The environment variables that Belay reads and sets", []string{"env", "variables"}, environmentText},
}

// Topic is a topic of belay help that no command explains, for programs that describe belay.
type Topic struct{ Name, Short, Text string }

// Topics are those that no command explains.
func Topics() (list []Topic) {
	for _, t := range topics {
		if t.text != nil {
			list = append(list, Topic{t.name, t.short, t.text()})
		}
	}
	return list
}

// findTopic returns the topic that the arguments of belay help name; nil if they name none. "exit codes" is exit-codes.
func findTopic(args []string) *topic {
	name := strings.ToLower(strings.Join(args, "-"))
	for i := range topics {
		if t := &topics[i]; name == t.name || slices.Contains(t.also, name) {
			return t
		}
	}
	return nil
}

func verdictsText() string {
	rows := make([]row, 0, 24)
	for _, c := range ClassMeanings() {
		rows = append(rows, row{string(c.Class), strings.TrimSuffix(c.Meaning+"; "+c.Following, "; ")})
	}
	return `Explain a saved outcome:
  belay explain --exit-code 1 --stderr err.txt -- claude -p hi
Show the failed runs of today:
  belay log --class failed --since today

` + wrap(`A verdict says what the outcome of an attempt means: its class, whether a retry makes sense, and when to come back. Results,
logs and rules use these classes:`) + "\n\n" + layRows(18, rows) + "\n" + wrap(`Belay looks at rules of your own first, then at the CLI's events and result, and then at the exit
code. Last come messages that the CLI is known to print, and plain signals such as "HTTP 429" on its stderr. What a model says or a tool prints is never evidence. Belay knows nothing of plain
commands: their failures are "unknown" unless a rule of yours says otherwise.

Details: https://github.com/belay-run/belay/blob/main/docs/verdicts.md`) + "\n"
}

func exitCodesText() string {
	var rows []row
	for _, c := range ExitCodes() {
		rows = append(rows, row{c.Code, c.Meaning})
	}
	return `Keep the command's own exit code whenever it has one:
  belay run --exit-code child -- claude -p hi
Try again in an hour if a limit was reached:
  belay run -- ./job || { [ $? -eq 75 ] && at -f job.sh now + 1 hour; }

belay run exits with the command's own exit code, or with one of these:

` + layRows(14, rows) + "\n" + wrap("belay hook has exit codes of its own: see belay hook --help. belay doctor exits with 1 if something is wrong.") + "\n"
}

func environmentText() string {
	var names []string
	for i := range config.Table {
		if s := &config.Table[i]; !s.ForFlag() {
			names = append(names, s.Env())
		}
	}
	rows := []row{
		{"BELAY_STATE_DIR", "where the record, gates and sessions are kept (default $XDG_STATE_HOME/belay, usually ~/.local/state/belay)"},
		{"BELAY_FOLD", "off: a failed run does not start belayd to update the database"},
		{"XDG_CONFIG_HOME", "where belay/config.toml is (default ~/.config)"},
		{"NO_COLOR", "turns colour off; CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR and TERM=dumb are understood too"},
	}
	for _, cli := range profile.All() {
		for _, v := range cli.Variables {
			rows = append(rows, row{v.Name, "--" + v.Setting + ", for " + cli.Name})
		}
	}
	return `Set a limit for every run of this shell:
  export BELAY_TIMEOUT=10m
See what is set, and by what:
  belay config show

` + wrap("These variables stand for the flags of the same name. A flag wins over a variable, a variable over a file.") + "\n\n" +
		indent(names) + "\n" + wrap("Other variables:") + "\n\n" + layRows(21, rows) + "\n" + wrap("Commands find BELAY_RUN_ID, the id of their run, in their environment. Belay keeps its other variables to itself.") + "\n"
}
