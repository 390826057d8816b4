package belay_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/belay"
)

// typed is a command line of belay in code, up to what a shell or another program reads, and quoted an argument of it that may have anything in it.
var (
	typed  = regexp.MustCompile("(?m)(?:^(?:\\$ )?|`)belay ([a-z][^`\n|>;&#]*)")
	quoted = regexp.MustCompile(`'[^']*'|"[^"]*"`)
)

// Every command of belay that a document tells to type is there, with its flags.
func TestDocs_CommandsAreThere(t *testing.T) {
	root, found := belay.New(), 0
	for _, path := range documents(t) {
		if path == "CHANGELOG.md" || path == "docs/add-a-command.md" {
			continue // what has been, and what a reader adds
		}
		for _, m := range typed.FindAllStringSubmatch(quoted.ReplaceAllString(strings.Join(code.FindAllString(text(t, path), -1), "\n"), "x"), -1) {
			args := strings.Fields(m[1])
			if i := slices.Index(args, "--"); i >= 0 {
				args = args[:i]
			}
			cmd, _, err := root.Find(args)
			if args[0] == "help" {
				continue
			}
			if err != nil || cmd == root {
				t.Errorf("%s: belay %s: %v", path, m[1], err)
				continue
			}
			found++
			for _, arg := range args {
				name, _, _ := strings.Cut(strings.TrimLeft(arg, "-["), "=")
				name = strings.TrimRight(name, "],.:…")
				switch {
				case strings.HasPrefix(arg, "--") && name != "help" && cmd.Flag(name) == nil && cmd.InheritedFlags().Lookup(name) == nil:
					t.Errorf("%s: belay %s: %s has no flag --%s", path, m[1], cmd.CommandPath(), name)
				case len(name) == 1 && strings.HasPrefix(arg, "-") && cmd.Flags().ShorthandLookup(name) == nil && name != "h":
					t.Errorf("%s: belay %s: %s has no flag -%s", path, m[1], cmd.CommandPath(), name)
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d commands were found in the documents", found)
	}
}
