package hook

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/help"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/stdio"
)

// hookByCobra parses the same arguments with cobra.
func hookByCobra(args []string) (h *hook.Hook) {
	cmd := newWith(func(_ context.Context, _ stdio.Streams, got *hook.Hook) int { h = got; return 0 })
	cmd.SetArgs(args[1:])
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetHelpFunc(help.Show)
	cmd.SetOut(new(strings.Builder))
	cmd.Execute()
	return h
}

// Whatever the quick parser takes, it takes as cobra does.
func FuzzQuickHook(f *testing.F) {
	for _, s := range []string{
		"hook|--|true", "hook|--timeout|3s|--|x", "hook|--timeout=3|--fail-closed|--|x|-y", "hook|--name|n|--keep-background|--|x|--|y", "hook|--name=|--|x",
		"hook|--name|--|x", "hook|--timeout|0|--|x", "hook|install", "hook|--|install", "hook|--help", "hook|-h|--|x", "hook|--fail-closed=false|--|x", "hook|x", "hook",
		"hook|--timeout|-1|--|x", "hook|x|--|y",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "|")
		quick, ok := quickHook(args)
		if !ok {
			return
		}
		if slow := hookByCobra(args); !reflect.DeepEqual(quick, slow) {
			t.Errorf("%q: quick %+v, cobra %+v", args, quick, slow)
		}
	})
}

func TestQuickHook_TakesTheCommonForms(t *testing.T) {
	for _, line := range []string{"hook -- x", "hook --timeout 59s -- x -y", "hook --name a --timeout=1s --fail-closed --keep-background -- x"} {
		if _, ok := quickHook(strings.Fields(line)); !ok {
			t.Errorf("%q was left to cobra", line)
		}
	}
	for _, line := range []string{"", "run -- x", "hook", "hook --", "hook x", "hook install", "hook --help", "hook --nonsense -- x", "hook --timeout x -- y"} {
		if _, ok := quickHook(strings.Fields(line)); ok {
			t.Errorf("%q was not left to cobra", line)
		}
	}
}
