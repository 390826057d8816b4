// Package hook is belay hook: a call of a client's hook, and how belay is put in front of hooks.
package hook

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// New makes belay hook.
func New() *cobra.Command { return newWith(runHook) }

func (f hookFlags) hook(command []string) *hook.Hook {
	h := &hook.Hook{Args: command, Name: f.name, Tags: f.tags, Timeout: f.timeout, FailClosed: f.failClosed, KeepBackground: f.keepBackground, MaxMemory: int64(f.maxMemory)}
	if h.Timeout == 0 {
		h.Timeout = -1 // as everywhere, 0 means none
	}
	return h
}

// newWith makes the command, which does what it is told by do.
func newWith(do func(context.Context, stdio.Streams, *hook.Hook) int) *cobra.Command {
	f := hookFlags{timeout: hook.DefaultTimeout}
	cmd := &cobra.Command{
		Use:   "hook [flags] -- command [args…]",
		Short: "Run an agent's hook so that it cannot take the agent down",
		Example: `Run a hook. If it crashes or hangs, the agent continues:
  belay hook -- ./guard.py
Block instead if it fails:
  belay hook --timeout 10s --fail-closed -- ./guard.py
Put belay in front of all hooks of a client:
  belay hook install --client claude --dry-run
Take it out again:
  belay hook uninstall --client claude`,
		Long: `Goes in front of a hook's own command in the settings of Claude Code or Codex. What the hook decides on purpose reaches the client unchanged:
exit code 2 with its stderr, or exit code 0 with a JSON object or plain text on stdout. A crash, a missing command, broken JSON or a hang is put on record and does
not block: exit code 0, nothing on stdout. With --fail-closed it blocks: exit code 2, the reason on stderr.

When the time is up, the hook is stopped, with everything it has started. No shell is involved; belay hook install edits whole settings files and keeps what their
shell commands mean.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return command.Usage(message.Error(message.NoCommand()), message.AsIn("belay hook -- ./guard.py"))
			case cmd.ArgsLenAtDash() != 0:
				if near := message.Nearest(args[0], command.CommandsOf(cmd)); near != "" {
					return command.NoArgs(cmd, args)
				}
				return command.Usage(message.Error(message.NoSuchCommand(args[0])), "to run it as a hook: belay hook -- "+args[0])
			}
			return command.Exit(do(cmd.Context(), command.Streams(cmd), f.hook(args)))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false)
	flags.Var(command.DurationValue(&f.timeout), "timeout", "stop the command after D; 0 means no limit (default 60s)")
	flags.Var(&f.maxMemory, "max-memory", "stop the command if it uses more memory than SIZE, such as 1G, with all that it has started (default none)")
	flags.BoolVar(&f.failClosed, "fail-closed", false, "block if the command fails: exit code 2, the reason on stderr")
	command.AddText(flags, &f.name, "name", "NAME", "count failures under this name (default: the command's)")
	flags.Var(&f.tags, "tag", command.TagUsage)
	flags.BoolVar(&f.keepBackground, "keep-background", false, "do not stop what the command leaves running")
	cmd.AddCommand(newHookInstall(), newHookUninstall(), newHookStatus())
	return cmd
}
