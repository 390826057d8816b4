package gh_test

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/gh"
	"github.com/belay-run/belay/internal/clitest"
)

// hiddenCommands are those that gh leaves out of its reference.
var hiddenCommands = []string{"attestation inspect", "auth git-credential", "codespace select", "credits", "help", "repo credits", "repo garden",
	"send-telemetry", "version"}

// The table has the commands of the real gh, all of them and no other: one that it lacks would be taken for one that changes things, and
// one that gh lacks may be an alias of the user's.
func TestCommands_AreThoseOfGH(t *testing.T) {
	path := clitest.PinnedGH(t)
	ghHelp := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(path, args...)
		cmd.Env = []string{"HOME=" + t.TempDir(), "GH_CONFIG_DIR=" + t.TempDir(), "NO_COLOR=1"}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("gh %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
		}
		return string(out)
	}

	commands, aliases := readReference(ghHelp("reference"))
	if len(commands) < 150 || len(aliases) < 40 {
		t.Fatalf("%d commands and %d aliases in gh's reference", len(commands), len(aliases))
	}
	commands = append(commands, helpTopics(ghHelp("--help"))...)
	for _, name := range hiddenCommands {
		words := strings.Fields(name)
		if help := ghHelp(append(words, "--help")...); !strings.Contains(help, "\n  gh "+name+" ") {
			t.Errorf("gh has no command %q any more:\n%s", name, help)
		}
		commands = append(commands, name)
	}

	table := gh.Commands()
	for _, name := range commands {
		if !slices.Contains(table, name) {
			t.Errorf("gh %s is not in the table", name)
		}
	}
	for _, name := range table {
		if !slices.Contains(commands, name) {
			t.Errorf("gh has no command %q", name)
		}
	}
	for alias, name := range aliases {
		if !slices.Contains(commands, name) {
			continue // an alias of a group, which is seen at its commands
		}
		if got := gh.CommandOf(strings.Fields(alias)...); got != name {
			t.Errorf("gh %s is %q, want %q", alias, got, name)
		}
	}
	for _, name := range []string{"co 12", "my-extension", "my-extension list", "issue nope", "ls"} {
		if got := gh.CommandOf(strings.Fields(name)...); got != "" {
			t.Errorf("gh %s is taken for %q", name, got)
		}
	}
}

// readReference reads the commands, and what else they are called, from what `gh reference` prints. A command with subcommands that
// does nothing by itself is none.
func readReference(text string) (commands []string, aliases map[string]string) {
	aliases = map[string]string{}
	name := ""
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " gh "); ok && strings.HasPrefix(line, "##") {
			name = commandWords(rest)
			if name != "co" { // an alias that every new configuration has
				commands = append(commands, name)
			}
		}
		if line == "Aliases" && i+2 < len(lines) {
			for alias := range strings.SplitSeq(lines[i+2], ", ") {
				aliases[strings.TrimPrefix(alias, "gh ")] = name
			}
		}
	}
	all := slices.Clone(commands)
	return slices.DeleteFunc(commands, func(name string) bool {
		isPart := func(other string) bool { return strings.HasPrefix(other, name+" ") }
		return name != "codespace ports" && slices.ContainsFunc(all, isPart) // that one lists them by itself
	}), aliases
}

// commandWords are the words of a usage line up to the first that stands for something.
func commandWords(usage string) string {
	var words []string
	for word := range strings.FieldsSeq(usage) {
		if strings.ContainsAny(word[:1], "[<{-") {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// helpTopics are those that `gh --help` lists. Each of them is a command.
func helpTopics(help string) (topics []string) {
	_, list, _ := strings.Cut(help, "HELP TOPICS\n")
	list, _, _ = strings.Cut(list, "\n\n")
	for line := range strings.Lines(list) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			topics = append(topics, name)
		}
	}
	return topics
}
