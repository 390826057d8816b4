package shim

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/command/run"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/setup"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Main runs belay in the place of a CLI, by whose name its process was started, as the links of belay shim do, or in front of what a CLI starts in the
// background. ok is false if it was started by its own: args[0] is the name.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) (code int, ok bool) {
	if len(args) == 3 && slices.Equal(args[1:], clientfile.LaunchWords) {
		return 0, true // a launcher asks whether we know of it
	}
	if cli, argv := launched(args); cli != nil {
		c := &shimCall{std: stdio.New(stdin, stdout, stderr), name: cli.Name, path: argv[0], args: argv}
		return c.run(ctx, cli, config.Given{"profile": cli.Name, "worktree": "false"}), true // a session belongs to its directory
	}
	if len(args) == 0 || strings.HasPrefix(filepath.Base(args[0]), "belay") {
		return 0, false
	}
	cli := profile.Named(args[0])
	if cli == nil {
		return 0, false
	}
	return runShim(ctx, stdio.New(stdin, stdout, stderr), cli, args), true
}

// launched takes the command line apart by which a CLI starts a process in the background where [clientfile.Client.SetLauncher] has put belay in front of that: what it
// has started. The CLI is nil for any other.
func launched(args []string) (cli *agent.Descriptor, argv []string) {
	if len(args) < 5 || !slices.Equal(args[1:3], clientfile.LaunchWords) {
		return nil, nil
	}
	return profile.Find(args[3]), args[4:]
}

// shimCall is a call of a CLI by the name that a shim has. It is nil where belay was called by its own name.
type shimCall struct {
	std   stdio.Streams
	name  string   // of the CLI
	path  string   // where the real one is
	args  []string // as it was called
	began atomic.Bool
}

// runShim runs a CLI in whose place belay was started: by belay run, or, where that has nothing to do for it or cannot do it, by
// becoming it. Nothing that is wrong with belay keeps the CLI from running.
func runShim(ctx context.Context, std stdio.Streams, cli *agent.Descriptor, args []string) (code int) {
	found, err := shim.Find(cli.Name)
	if err != nil {
		return notFound(std, cli.Name, err)
	}
	c := &shimCall{std: std, name: cli.Name, path: found.Path, args: args}
	if found.Again || profile.OfCommand(c.path) == nil { // it only has the name of one
		return c.become(ctx)
	}
	return c.run(ctx, cli, config.Given{})
}

// run runs the CLI with these settings and those of every shim, or becomes it.
func (c *shimCall) run(ctx context.Context, cli *agent.Descriptor, given config.Given) (code int) {
	defer func() {
		if r := recover(); r != nil {
			if !c.began.Load() {
				code = c.become(ctx)
				return
			}
			term.Panicked(c.std.Err, r)
			code = engine.CodeFailed
		}
	}()
	if os.Getenv(shim.MarkVar) == shim.Off || !ready() || !c.supervisable(cli) || !shim.Startable(c.path) {
		return c.become(ctx)
	}
	given["exit-code"], given["quiet"] = "child", "true"
	err := run.Run(ctx, c.std, given, append([]string{c.path}, c.args[1:]...), func(own engine.Supervised) engine.Starter { return &shimStarter{own, c} })
	if _, ended := errors.AsType[*command.ExitError](err); err != nil && !ended && !c.began.Load() {
		return c.become(ctx)
	}
	return command.CodeOf(c.std, err)
}

// notFound says what a shell says of a command that is not there, and returns its exit code.
func notFound(std stdio.Streams, name string, err error) int {
	if errors.Is(err, fs.ErrPermission) {
		term.Printf(std.Err, "%s\n", name+": permission denied")
		return engine.CodeNotExecutable
	}
	term.Printf(std.Err, "%s\n", name+": command not found")
	return engine.CodeNotFound
}

// supervisable reports whether belay can do something for the command: it works without a person, and nothing in it is unknown.
func (c *shimCall) supervisable(cli *agent.Descriptor) bool {
	p := cli.New(append([]string{c.path}, c.args[1:]...), os.Environ(), "")
	if !p.Headless() || setup.WantsPerson(c.std, p) {
		return false
	}
	a, ok := p.(agent.Agent)
	return !ok || a.Info().Unknown == ""
}

// ready reports whether belay can work as it should: by the limits of its process, and with a state directory that it can write to.
// It is asked before a file is opened, which takes the runtime more of them.
func ready() bool {
	var s state.State
	return command.CheckLimits() == nil && s.Prepare() == nil && takesFiles(s.Dir)
}

// become replaces belay by the CLI. The exit code is that of a CLI that cannot be started.
func (c *shimCall) become(ctx context.Context) int {
	argv := append([]string{c.args[0]}, c.args[1:]...)
	if filepath.Base(argv[0]) != argv[0] { // the path of the link, which leads here
		argv[0] = c.path
	}
	os.Setenv(shim.MarkVar, strings.TrimPrefix(shim.Setting(os.Environ(), c.name, c.path), shim.MarkVar+"="))
	code, err := command.Become(ctx, c.std, c.path, argv)
	if errors.Is(err, syscall.ENOEXEC) { // a script that does not name its interpreter, as a shell runs it
		code, err = command.Become(ctx, c.std, "/bin/sh", append([]string{"/bin/sh", c.path}, argv[1:]...))
	}
	if err == nil {
		return code
	}
	command.Say(c.std.Err, message.CannotStart(c.path, err))
	return engine.CodeNotExecutable
}

// shimStarter starts the CLI, and becomes it where it cannot be started: its arguments may leave no room for ours.
type shimStarter struct {
	engine.Supervised
	call *shimCall
}

// Run implements [engine.Starter].
func (s *shimStarter) Run(spec supervise.Spec, started func(engine.Process)) (supervise.Exit, error) {
	exit, err := s.Supervised.Run(spec, func(p engine.Process) {
		s.call.began.Store(true)
		started(p)
	})
	if err != nil && !s.call.began.Load() && (spec.Stdin == nil || spec.Stdin == s.call.std.In) { // else it is read already
		s.Supervisor.Disown()
		os.Exit(s.call.become(command.OwnProcess(context.Background(), os.Exit)))
	}
	return exit, err
}
