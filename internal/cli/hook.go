package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/hook"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
)

// hookMain is Run for `belay hook`. A client that calls it reads every exit code in its own way (2 blocks), so those of
// the other commands do not apply to a call, also to one that is wrong: a settings line that has lost its command must not
// look like a decision. They do to install and the like, which people call.
func hookMain(ctx context.Context, std stdio.Streams, args []string) (code int) {
	flags := args
	if end := slices.Index(args, "--"); end >= 0 {
		flags = args[:end]
	}
	trouble := 1 // clients show it and go on
	if slices.Contains(flags, "--fail-closed") {
		trouble = hook.Block
	}
	defer func() {
		if r := recover(); r != nil {
			term.Panicked(std.Err, r)
			code = trouble
		}
	}()
	if err := checkLimits(); err != nil {
		report(std.Err, err)
		return trouble
	}
	if h, ok := quickHook(args); ok {
		return runHook(ctx, std, h)
	}
	called, err := executeCobra(ctx, std, args)
	code = codeOf(std.Err, err)
	if _, ran := errors.AsType[*exitError](err); err != nil && !ran && called.Name() == "hook" {
		return trouble
	}
	return code
}

// hookFlags are those of a call.
type hookFlags struct {
	timeout                    time.Duration
	name                       string
	tags                       tagFlag
	failClosed, keepBackground bool
}

func (f hookFlags) hook(command []string) *hook.Hook {
	h := &hook.Hook{Args: command, Name: f.name, Tags: f.tags, Timeout: f.timeout, FailClosed: f.failClosed, KeepBackground: f.keepBackground}
	if h.Timeout == 0 {
		h.Timeout = -1 // as everywhere, 0 means none
	}
	return h
}

// quickHook parses `hook [--flag[=value]]… -- command…` without cobra, as [quickRun] does.
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

func newHook(do func(context.Context, stdio.Streams, *hook.Hook) int) *cobra.Command {
	f := hookFlags{timeout: hook.DefaultTimeout}
	cmd := &cobra.Command{
		Use:   "hook [flags] -- command [args…]",
		Short: "Run an agent's hook so that it cannot take the agent down",
		Example: `  belay hook -- ./guard.py
  belay hook --timeout 10s --fail-closed -- ./guard.py
  belay hook install --client claude --dry-run
  belay hook install --client claude
  belay hook uninstall --client claude`,
		Long: `Stands in a hook setting of Claude Code or Codex, before the hook's own command. What that decides
on purpose reaches the client unchanged: exit code 2 with its stderr, or exit code 0 with a JSON
object or plain text on stdout. A crash, a missing command, broken JSON or a hang is put on record
and does not block: exit code 0, nothing on stdout. With --fail-closed it blocks: exit code 2, the
reason on stderr.

When the time is up the whole process tree is stopped; what the command has left in the background
is ended with it. There is no shell; 'belay hook install' wraps whole settings files and keeps
what their shell commands mean.`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return usage(errors.New("no command given"), "as in: belay hook -- ./guard.py")
			case cmd.ArgsLenAtDash() != 0:
				if near := config.Nearest(args[0], commandsOf(cmd)); near != "" {
					return noArgs(cmd, args)
				}
				return usage(fmt.Errorf("there is no command %q", args[0]), "to run it as a hook: belay hook -- "+args[0])
			}
			return exit(do(cmd.Context(), stdioOf(cmd), f.hook(args)))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.SetInterspersed(false)
	flags.Var(&durationFlag{&f.timeout}, "timeout", "how long the command may take (default 60s; 0: no limit)")
	flags.BoolVar(&f.failClosed, "fail-closed", false, "a failure blocks: exit code 2 and the reason on stderr")
	addText(flags, &f.name, "name", "NAME", "what failures are counted by (default: the command's name)")
	flags.Var(&f.tags, "tag", tagUsage)
	flags.BoolVar(&f.keepBackground, "keep-background", false, "let go on what the command has left running")
	cmd.AddCommand(newHookInstall(), newHookUninstall(), newHookStatus())
	return cmd
}

// runHook is belay hook.
func runHook(ctx context.Context, std stdio.Streams, h *hook.Hook) int {
	labels, err := tagFlag(h.Tags).labels()
	if err != nil {
		return codeOf(std.Err, &failure{err})
	}
	if len(h.Tags) > 0 {
		h.Env = append(withoutLabels(os.Environ()), labels.Environ()...)
	}
	in, done, err := std.InputFile()
	if err != nil {
		return codeOf(std.Err, &failure{err})
	}
	defer done()
	h.Stdin, h.Stdout, h.Stderr = in, std.Out, std.Err
	h.Supervisor = supervisor(ctx)
	h.Record = func(e journal.Entry) error { return recordHook(std.Err, e, labels) }
	markHook(h, labels)
	if ownsProcess(ctx) != nil {
		stopHookBySignal(h)
	}
	defer context.AfterFunc(ctx, func() { h.Stop(syscall.SIGTERM) })()
	return h.Run()
}

// durationFlag reads a duration as all of belay does.
type durationFlag struct{ d *time.Duration }

func (f *durationFlag) String() string { return "" }
func (f *durationFlag) Type() string   { return "D" }

func (f *durationFlag) Set(text string) (err error) {
	*f.d, err = config.ParseDuration(text)
	return err
}
