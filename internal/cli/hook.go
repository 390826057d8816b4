package cli

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// trouble is the exit code of a call that fails for a reason of belay's own. A client that calls belay hook reads every exit code in its own way (2 blocks), so
// those of the other commands do not apply to a call, also to one that is wrong: a settings line that has lost its command must not look like a decision.
// They do to install and the like, which people call.
func trouble(args []string) int {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	if slices.Contains(args, "--fail-closed") {
		return hook.Block
	}
	return 1 // clients show it and go on
}

// quickCall is belay hook with plain arguments, without the tree of commands.
func quickCall(ctx context.Context, std stdio.Streams, args []string) (err error, ok bool) {
	h, ok := quickHook(args)
	if !ok {
		return nil, false
	}
	return command.Exit(runHook(ctx, std, h)), true
}

// makeHook makes belay hook.
func makeHook() *cobra.Command { return newHook(runHook) }

// hookFlags are the flags of a call.
type hookFlags struct {
	timeout                    time.Duration
	maxMemory                  command.MemoryFlag
	name                       string
	tags                       command.TagFlag
	failClosed, keepBackground bool
}

func (f hookFlags) hook(command []string) *hook.Hook {
	h := &hook.Hook{Args: command, Name: f.name, Tags: f.tags, Timeout: f.timeout, FailClosed: f.failClosed, KeepBackground: f.keepBackground, MaxMemory: int64(f.maxMemory)}
	if h.Timeout == 0 {
		h.Timeout = -1 // as everywhere, 0 means none
	}
	return h
}

// quickHook parses `hook [--flag[=value]]… -- command…` without cobra, as belay run does.
func quickHook(args []string) (h *hook.Hook, ok bool) {
	if len(args) == 0 || args[0] != "hook" {
		return nil, false
	}
	f := hookFlags{timeout: hook.DefaultTimeout}
	for args = args[1:]; len(args) > 0; {
		arg := args[0]
		args = args[1:]
		name, value, hasValue := strings.Cut(arg, "=")
		takes := name == "--timeout" || name == "--name" || name == "--tag"
		if takes && !hasValue && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		switch {
		case arg == "--":
			return f.hook(args), len(args) > 0
		case arg == "--fail-closed":
			f.failClosed = true
		case arg == "--keep-background":
			f.keepBackground = true
		case name == "--name" && value != "":
			f.name = value
		case name == "--tag":
			if f.tags.Set(value) != nil {
				return nil, false
			}
		case name == "--timeout":
			d, err := config.ParseDuration(value)
			if err != nil {
				return nil, false
			}
			f.timeout = d
		default:
			return nil, false
		}
	}
	return nil, false
}

// newHook makes the command, which does what it is told by do.
func newHook(do func(context.Context, stdio.Streams, *hook.Hook) int) *cobra.Command {
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
				if near := config.Nearest(args[0], command.CommandsOf(cmd)); near != "" {
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

// runHook is belay hook.
func runHook(ctx context.Context, std stdio.Streams, h *hook.Hook) int {
	labels, err := command.TagFlag(h.Tags).Labels()
	if err != nil {
		return command.CodeOf(std, command.Fail(err))
	}
	if len(h.Tags) > 0 {
		h.Env = append(command.WithoutLabels(os.Environ()), labels.Environ()...)
	}
	in, done, err := std.InputFile()
	if err != nil {
		return command.CodeOf(std, command.Fail(err))
	}
	defer done()
	h.Stdin, h.Stdout, h.Stderr = in, std.Out.Raw(), std.Err
	h.Supervisor = command.Supervisor(ctx)
	h.Record = func(e journal.Entry) error { return recordHook(std.Err, e, labels) }
	markHook(h, labels)
	if command.OwnsProcess(ctx) != nil {
		stopHookBySignal(h)
	}
	defer context.AfterFunc(ctx, func() { h.Stop(syscall.SIGTERM) })()
	return h.Run()
}

// markHook gives a call the id by which what it starts is found should we be killed, and lets `belay ps` know of a call
// that takes a while. Its id names us, so that no record has to be written of the others; what is to go on in the
// background must not look like what a killed belay has left, and has a record at once.
func markHook(h *hook.Hook, labels label.Labels) {
	s, err := command.OpenState()
	if err != nil {
		return
	}
	if h.ID = s.Records().OwnedID(); h.KeepBackground {
		h.ID = fmt.Sprintf("hook-keep-%012x-%08x", time.Now().UnixMilli(), rand.Uint32())
	}
	h.Announce = func(begun time.Time) (withdraw func()) {
		if s.Prepare() != nil {
			return nil
		}
		rec, err := s.CreateRecord(supervise.Record{ID: h.ID, Command: h.Label(), Profile: "hook:" + h.Label(), Started: begun, Attempt: 1,
			Name: labels.Name, Tags: labels.Tags, Parent: engine.EnclosingRun()})
		if err != nil {
			return nil
		}
		return func() { rec.Remove() }
	}
}

// recordHook puts a failure into the log, and raises an alert if there have been too many of that hook. Nothing of the state
// directory is touched before there is a failure, or a call takes a while.
func recordHook(w io.Writer, e journal.Entry, labels label.Labels) error {
	engine.SetLabels(&e, labels)
	state, err := state.Open("")
	if err != nil {
		return err
	}
	alerts, _ := config.Alerts() // a file that cannot be read means the defaults
	raised, err := state.RecordFailure(state.Log(nil), e, alerts.For(e.Profile))
	if raised != nil {
		term.Printf(w, "belay hook: %s\n", message.Alert(e.Profile, raised.Failures, raised.Within))
		command.FoldLog() // an alert has to be sent; failures alone are folded when a user asks
	}
	return err
}
