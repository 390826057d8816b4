// Package run is belay run: from its flags to the runner of internal/setup, what is said meanwhile, and what it ends with.
package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/detach"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// knownCommands lists the commands that are known by their names: "claude -p, codex exec and gh".
func knownCommands() string {
	var list []string
	for _, d := range profile.All() {
		list = append(list, d.Headless())
	}
	return message.And(list)
}

// New makes belay run.
func New() *cobra.Command {
	return newWith(func(ctx context.Context, std stdio.Streams, given config.Given, args []string) error {
		return Run(ctx, std, given, args, nil)
	})
}

// newWith makes the command, which does what it is told by do.
func newWith(do func(ctx context.Context, std stdio.Streams, given config.Given, command []string) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "run [flags] -- command [args…]",
		Short: "Run a command, retry its failures and enforce limits",
		Example: `Run claude. Wait for limits to pass, and retry what is safe to retry:
  belay run -- claude -p "Review the last commit"
Continue the last session, and stop it before it costs more than $2:
  belay run --resume last --max-cost 2 -- codex exec "And now the docs"
Retry a flaky command up to three times:
  belay run --max-retries 3 -- curl -sSf https://example.com/data.json
Retry some failures only, and wait at most 10 minutes in total:
  belay run --retry-on 'connection reset|429' --max-wait 10m -- ./sync.sh
Stop a command after 10 minutes, or after 2 minutes without activity:
  belay run --timeout 10m --stall-timeout 2m -- make deploy
Create an issue once, even if the answer is lost on the way:
  belay run --verify-effect -- gh issue create -R o/r -t "Title" -b "Body"
Spend at most $5 a day on a nightly job:
  belay run --budget nightly=5/day -- claude -p "Fix the flaky tests"
Ask codex if claude's limit lasts longer than 5 minutes:
  belay run --fallback codex -- claude -p "Explain the failing test"
Send the same input to every attempt:
  belay run --prompt-file question.txt --max-retries 2 -- ./ask
Start tonight, and let it run after logout:
  belay run --detach --at 03:00 -- claude -p "Update the dependencies"
Print the result as JSON:
  belay run --retry-on-exit 75 --output-format json -- ./job`,
		Long: `Runs a command and exits with its exit code. Without flags it behaves like the command alone: same output, same exit code, same
terminal. If belay is stopped, the command is stopped too, with everything it has started. With flags, failures are retried, limits enforced and results reported.

` + knownCommands() + ` are recognized by their names. Belay understands their failures: without any flags it waits for
limits to pass and retries what is safe to retry. Details: https://github.com/belay-run/belay/blob/main/docs/agents.md

stdout has the command's output and nothing else. The output of a command that may be retried is held until an attempt counts; --stream prints it as it
comes.

Durations are 30s, 5m, 1h30m, 2d or plain seconds. In the worst case a run takes (retries + 1) × timeout + waits. Most settings can also be given in
the environment and in files: see belay help config. For what the exit codes mean, see belay help exit-codes.`,
	}
	given := command.AddSettings(cmd, func(*config.Setting) bool { return true })
	later := detach.AddFlags(cmd)
	cmd.Flags().SetInterspersed(false)
	cmd.ValidArgsFunction = command.CompleteByShell
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return refuse(command.Streams(cmd), given, nil, command.WrongFlag(cmd, err))
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return refuse(command.Streams(cmd), given, nil, command.Usage(message.Error(message.NoCommand()), message.AsIn("belay run -- make test")))
		}
		ctx, err := later.Put(cmd.Context())
		if err != nil {
			return refuse(command.Streams(cmd), given, nil, err)
		}
		return do(ctx, command.Streams(cmd), given, args)
	}
	return cmd
}

// Run is belay run. instead is nil unless belay was called in the place of a CLI.
func Run(ctx context.Context, std stdio.Streams, given config.Given, args []string, instead StandIn) error {
	user, err := config.ReadUser()
	if err != nil {
		return refuse(std, given, nil, err)
	}
	recognized, err := setup.Recognize(std, given["profile"], args, given["cwd"])
	if err != nil {
		return refuse(std, given, nil, err)
	}
	known := recognized.Known
	s, rules, err := user.Load(given, setup.NameOf(known))
	if err != nil {
		return refuse(std, given, nil, err)
	}
	later := detach.LaterOf(ctx)
	if later.Detaches(ctx) && !s.DryRun {
		name := filepath.Base(args[0])
		return detach.Start(ctx, std, later, detach.Run{Command: name, Name: s.Name, Input: detach.Input(s, std, known, name), Quiet: s.Quiet})
	}
	instead.adjust(s)
	skipped, err := recognized.SkipCheck(s)
	if err != nil {
		return refuse(std, given, s, err)
	}
	runner, err := setup.Runner(s, rules, known)
	if err != nil {
		return refuse(std, given, s, err)
	}
	if len(s.Fallbacks) > 0 {
		if runner.Fallbacks, err = setup.Fallbacks(s, given, known); err != nil {
			return refuse(std, given, s, err)
		}
		runner.FallbackAfterWork = s.FallbackAfterWork
	}
	noTree, err := setup.Worktree(s, runner, s.Cwd)
	if err != nil {
		return refuse(std, given, s, err)
	}
	skipped = append(skipped, noTree...)
	runner.Profile = recognized.Guard(runner.Profile)
	call, err := newCommand(ctx, std, s, runner.Policy, args)
	if err != nil {
		return refuse(std, given, s, err)
	}
	if s.DryRun {
		return setup.FallbackHint(dryRun(ctx, std.Out, s, runner, call))
	}
	runner.Alert = s.Alerts.For(setup.NameOf(known), journal.Integration(setup.NameOf(known), filepath.Base(args[0])))
	file, err := openResultFile(std, s.ResultFile)
	if err != nil {
		return refuse(std, given, s, err)
	}
	runner.Starter = engine.Supervised{Supervisor: command.Supervisor(ctx)}
	cli := setup.CLI(known)
	view := &view{screen: term.New(std.Err).Beside(std.Out), stderr: std.Err, settings: s, name: filepath.Base(args[0]), how: continueHint(cli), login: cli.LoginHint()}
	runner.Observe = view.observe
	retried := retriedFailures{name: view.name}
	if s.GitHub {
		view.screen.Rewrite = actions.Line
		runner.Observe = func(e belaytype.Event) {
			retried.observe(e)
			view.observe(e)
		}
	}
	if later != nil {
		runner.Schedule, runner.Postponed = later.Schedule(), view.postponed
		detach.Of(ctx).Attend(runner)
	}
	view.watch(runner, call)
	instead.attach(runner, call, view)
	view.unread()
	if warning := s.Warning(func(text string) bool { return !s.Quiet && state.Tell(text) }); warning != "" {
		view.say(warning)
	}
	if s.Verbose {
		idle, _ := setup.IdleFlags(s, runner, known)
		for _, text := range append(skipped, idle...) {
			view.line(text)
		}
	}
	// A result file is to hold the output too; but a command on a terminal keeps its terminal.
	runner.Keep = s.ResultFile != "" && !stdio.IsTerminal(std.Out) && !stdio.IsTerminal(std.Err)

	firstLog := watchOwnLog(s, cli, stdio.IsTerminal(std.Err))
	exitNow := command.OwnsProcess(ctx)
	var caught command.Signals
	if exitNow != nil {
		caught = command.CatchSignals(s.Any() || known != nil)
	}
	concealed := takeConcealed()
	inv, err := runner.Prepare(ctx, *call)
	if err == nil {
		err = setup.KeepAwake(s, view.line)
	}
	if err != nil {
		return refuse(std, given, s, setup.FallbackHint(err))
	}
	inv.Conceal(concealed...)
	view.notices.redact = inv.Redact
	if caught != nil {
		go pass(caught, inv, known != nil && known.Headless(), exitNow)
	}
	inv.Run()
	result, err := inv.Wait()
	if path := firstLog(); path != "" {
		view.say(fmt.Sprintf("runs of %s are also logged to %s. To turn that off: --log-dir none", view.name, path))
	}
	view.done(result, err)
	if runner.OwnCode {
		result.ExitCode = engine.OwnCode(result)
	}
	code := result.ExitCode
	if err := writeResult(std.Out.Raw(), s.OutputFormat, result); err != nil {
		if !errors.Is(err, syscall.EPIPE) { // a reader that has left knows
			view.line(message.ResultNotWritten("stdout", err))
		}
		if code == 0 {
			code = engine.CodeFailed
		}
	}
	if file != nil {
		if err := file.write(result); err != nil {
			view.line(message.ResultNotWritten(s.ResultFile, err))
			if !runner.OwnCode || result.ChildCode < 0 {
				code = engine.CodeFailed
			}
		}
	}
	if s.GitHub {
		if err := reportToGitHub(std.Err, retried, inv, result); err != nil {
			view.line(fmt.Sprintf("cannot report to GitHub Actions: %v", err))
		}
	}
	view.notices.ended(view, result, err)
	command.Fold(result, s.Telemetry)
	if caught != nil && result.Verdict.Class == verdict.Interrupted {
		endAsShellExpects(std.In, code)
	}
	return command.Exit(code)
}
