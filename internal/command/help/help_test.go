package help_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/command/belay"
	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/verdict"
)

// everyCommand visits the commands of the tree that people can call, with their arguments.
func everyCommand(visit func(cmd *cobra.Command, path []string)) {
	var each func(*cobra.Command, []string)
	each = func(cmd *cobra.Command, path []string) {
		visit(cmd, path)
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				each(c, append(path[:len(path):len(path)], c.Name()))
			}
		}
	}
	each(belay.New(), nil)
}

// Help shows before it explains: it opens with labelled examples that can be typed, and names every flag. No line is too long for a
// terminal of 80 columns. `belay help X` says the same.
func TestHelp_OfEveryCommand(t *testing.T) {
	commandtest.Place(t)
	n := 0
	everyCommand(func(cmd *cobra.Command, path []string) {
		n++
		shown := commandtest.Belay(t, append(path, "--help")...).Ends(0).Says()
		checkHelp(t, strings.Join(path, " "), shown.Stdout)
		shown.Prints("\nUsage:\n  " + strings.Join(append([]string{"belay"}, path...), " "))
		words := strings.Join(strings.Fields(shown.Stdout), " ")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			name := "--" + f.Name
			if f.Shorthand == f.Name {
				name = "-" + f.Name
			}
			if f.Value.Type() != "bool" {
				name += strings.Replace(" "+f.Value.Type(), " [", "[", 1)
			}
			if !f.Hidden && !strings.Contains(words, name+" "+strings.Join(strings.Fields(f.Usage), " ")) {
				t.Errorf("the help of %q lacks %s: %s", path, name, f.Usage)
			}
		})
		if asked := commandtest.Belay(t, append([]string{"help"}, path...)...).Ends(0).Says(); asked.Stdout != shown.Stdout {
			t.Errorf("belay help %q says\n%s", path, asked.Stdout)
		}
	})
	if n < 25 {
		t.Errorf("only %d commands were found", n)
	}
}

// checkHelp checks what holds for all help.
func checkHelp(t *testing.T, of, text string) {
	t.Helper()
	examples, _, _ := strings.Cut(text, "\n\n")
	typed := regexp.MustCompile(`^  (\w+=\w+ )?(belay|export|source <\(belay) ?`)
	labelled := false
	for i, line := range strings.Split(examples, "\n") {
		isLabel := !strings.HasPrefix(line, " ") && strings.HasSuffix(line, ":")
		if isLabel == labelled && (isLabel || i == 0) || !isLabel && !typed.MatchString(line) {
			t.Errorf("the help of %q does not open with labelled examples: %s", of, line)
		}
		labelled = isLabel
	}
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 80 {
			t.Errorf("a line in the help of %q has %d characters: %s", of, n, line)
		}
	}
}

// belay help explains topics too, and lists them.
func TestHelp_Topics(t *testing.T) {
	commandtest.Place(t)
	for name, want := range map[string]string{
		"verdicts": "rate_limit ", "classes": "rate_limit ", "exit-codes": "75 ", "exit codes": "75 ", "gates": "A gate has four parts", "gate": "A gate has four parts",
		"config": "BELAY_MAX_RETRIES=3", "environment": "BELAY_STATE_DIR ", "env": "CLAUDE_LOG_DIR ",
	} {
		shown := commandtest.Belay(t, append([]string{"help"}, strings.Fields(name)...)...).Ends(0).Says().Prints(want)
		checkHelp(t, name, shown.Stdout)
	}
	list := commandtest.Belay(t, "help").Ends(0)
	for _, topic := range []string{"verdicts", "gates", "exit-codes", "config", "environment"} {
		list.Prints("\n  " + topic + " ")
	}
	for _, class := range verdict.Classes() {
		commandtest.Belay(t, "help", "verdicts").Prints("\n  " + string(class) + " ")
	}
	commandtest.Belay(t, "__complete", "help", "").Ends(0).Prints("exit-codes\t", "run\t")
	commandtest.Belay(t, "__complete", "help", "gates", "").Ends(0).Prints("reset\t")
}

func TestHelp_WithoutArguments(t *testing.T) {
	commandtest.Place(t)
	for _, args := range [][]string{{}, {"help"}, {"config"}, {"completion"}} {
		commandtest.Belay(t, args...).Ends(0).Says().Prints("\nFor more, run: belay", " COMMAND --help")
	}
}
