package cli_test

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/belay-run/belay/internal/message/wording"
)

// Help reads as messages do: no sentence is too long, and none reads as translated. The man pages are made of the same texts.
func TestHelp_ReadsWell(t *testing.T) {
	place(t)
	check := func(name, text string) {
		t.Helper()
		for _, fault := range wording.Text(text) {
			t.Errorf("%s: %s", name, fault)
		}
	}
	everyCommand(func(cmd *cobra.Command, path []string) {
		name := "belay " + strings.Join(path, " ")
		check(name, cmd.Short)
		check(name, cmd.Long)
		check(name, cmd.Example)
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { check(name+" --"+f.Name, f.Usage) })
	})
	for _, topic := range []string{"verdicts", "gates", "exit-codes", "config", "environment"} {
		check("belay help "+topic, belay(t, "help", topic).ends(0).stdout)
	}
}
