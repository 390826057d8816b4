package run

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/stdio"
)

// byCobra parses the same arguments with cobra.
func byCobra(args []string) (given config.Given, command []string, ok bool) {
	cmd := newWith(func(_ context.Context, _ stdio.Streams, g config.Given, c []string) error {
		given, command, ok = g, c, true
		return nil
	})
	cmd.SetArgs(args[1:])
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetHelpFunc(help.Show)
	cmd.SetOut(new(strings.Builder))
	cmd.Execute()
	return given, command, ok
}

// Whatever the quick parser takes, it takes as cobra does.
func FuzzQuickRun(f *testing.F) {
	for _, s := range []string{
		"run|--|true", "run|true|--quiet", "run|--max-retries|3|--|curl|-s", "run|--max-retries=3|x", "run|--quiet|--|x",
		"run|--quiet=false|x", "run|--timeout||x", "run|--|--|x", "run|-q|x", "run|--help", "run|--prompt|-|--|x",
		"run|--prompt|--|x", "run|--retry-on|(|x", "run|--nonsense|x", "run|", "run|--prompt=--|x", "run|--=|x", "run",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "|")
		given, command, ok := quickRun(args)
		if !ok {
			return
		}
		g, c, took := byCobra(args)
		if !took || !maps.Equal(given, g) || !slices.Equal(command, c) {
			t.Errorf("%q: quick %q %q, cobra %v %q %q", args, given, command, took, g, c)
		}
	})
}

func TestQuickRun_TakesTheCommonForms(t *testing.T) {
	for _, line := range []string{"run -- true", "run true", "run --max-retries 3 -- curl -s", "run --quiet --timeout=5 -- x"} {
		if _, _, ok := quickRun(strings.Fields(line)); !ok {
			t.Errorf("%q was left to cobra", line)
		}
	}
	for _, line := range []string{"", "ps", "run", "run --", "run --help", "run -h", "run --nonsense -- x", "run --timeout -1 -- x", "run --timeout"} {
		if _, _, ok := quickRun(strings.Fields(line)); ok {
			t.Errorf("%q was not left to cobra", line)
		}
	}
}
