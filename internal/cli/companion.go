package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// companionName is the executable that does what weighs too much for every call to carry.
const companionName = "belayd"

// getCompanion is the command that installs it.
const getCompanion = "make install"

// runCompanion hands this process over to belayd, or runs it and ends with its code where that cannot be done. It finds
// out by itself whether it is of our version.
func runCompanion(ctx context.Context, std stdio.Streams, what string, args ...string) error {
	path, argv, err := companion(what, what)
	if err != nil {
		return err
	}
	code, err := become(ctx, std, path, append(argv, args...))
	if err != nil {
		return fail(message.Error(message.CannotStart(path, err), err))
	}
	return exit(code)
}

// companion is where belayd is, and how it is called for something. command is what cannot be done without it.
func companion(command, what string) (path string, argv []string, err error) {
	self, err := executable()
	if err != nil {
		return "", nil, fail(err)
	}
	if path, err = findCompanion(self); err != nil {
		err = fmt.Errorf("belay %s needs %s, which is not next to belay or on the PATH", command, companionName)
		return "", nil, &hintError{fail(err), "to install both: " + getCompanion}
	}
	return path, []string{path, "--for", version.Pair(), "--belay", self, what}, nil
}

// superviseProgram runs a program until it ends, or the context does.
func superviseProgram(ctx context.Context, std stdio.Streams, path string, argv []string) (int, error) {
	in, done, err := std.InputFile()
	if err != nil {
		return 0, err
	}
	defer done()
	sup, placement := supervisor(ctx), supervise.SharedGroup
	if sup == nil {
		sup, placement = &supervise.Supervisor{}, supervise.OwnGroup
	}
	spec := supervise.Spec{Path: path, Args: argv, Stdin: in, Stdout: std.Out.Raw(), Stderr: std.Err, Placement: placement}
	exit, err := sup.Run(spec, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	return exit.ShellCode(), err
}

// findCompanion looks beside belay, also where a link to it leads, and then on the PATH.
func findCompanion(self string) (string, error) {
	name := companionName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	places := []string{self}
	if target, err := filepath.EvalSymlinks(self); err == nil && target != self {
		places = append(places, target)
	}
	for _, place := range places {
		path := filepath.Join(filepath.Dir(place), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := supervise.Look(companionName, "")
	if err != nil {
		return "", errors.Join(os.ErrNotExist, err)
	}
	return path, nil
}

// fold has the companion take the log into its database after a failed run: that is when users ask about it, and when an
// alert may have to be sent. With telemetry it does so after every run, and sends what there is. It is not waited for, and without a
// companion only this is missing. BELAY_FOLD=off is for machines that are thrown away.
func fold(r *belaytype.Result, telemetry bool) {
	if r.Log != "" && (!r.Success || telemetry) {
		foldAndSend(telemetry)
	}
}

func foldLog() { foldAndSend(false) }

func foldAndSend(telemetry bool) {
	if os.Getenv(state.FoldVar) == "off" {
		return
	}
	if path, argv, err := companion("", belayd.Fold); err == nil {
		if telemetry {
			argv = append(argv, "--"+belayd.Telemetry)
		}
		supervise.Detach(path, argv)
	}
}

// fleetFlags are the flags of commands that can also show the whole fleet, which belayd does.
type fleetFlags struct {
	on  bool
	dsn string
}

func addFleetFlags(cmd *cobra.Command) *fleetFlags {
	f := &fleetFlags{}
	cmd.Flags().BoolVar(&f.on, "fleet", false, "show all machines of the fleet (docs/fleet.md)")
	cmd.Flags().Var(&textFlag{&f.dsn, "DSN"}, "dsn", "with --fleet: the fleet's PostgreSQL, as a URL or as key=value pairs, without a password (default: BELAY_FLEET_DSN, PGHOST …)")
	return f
}

// handOver has belayd answer, if it is about the fleet.
func (f *fleetFlags) handOver(cmd *cobra.Command, what string, asJSON bool, args ...string) (handed bool, err error) {
	if !f.on {
		if f.dsn != "" {
			return true, usage(message.Error(message.NeedsFleet("--dsn")), "")
		}
		return false, nil
	}
	var passed []string
	if asJSON {
		passed = append(passed, "--json=true")
	}
	if f.dsn != "" {
		passed = append(passed, "--dsn="+f.dsn)
	}
	return true, runCompanion(cmd.Context(), stdioOf(cmd), what, append(append(passed, "--"), args...)...)
}

// newRehearse makes belay rehearse, which has the flags of belay run too.
func newRehearse(c belayd.Command) *cobra.Command {
	cmd := &cobra.Command{Use: c.Use, Short: c.Summary, Example: c.Examples, Long: c.Long}
	given := addSettings(cmd, func(s *config.Setting) bool { return s.Name != "dry-run" })
	cmd.Flags().SetInterspersed(false)
	addFlags(cmd, c)
	cmd.ValidArgsFunction = completeByShell
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		value := func(name string) string { return cmd.Flags().Lookup(name).Value.String() }
		switch {
		case len(args) == 0:
			return usage(message.Error(message.NoCommand()), message.AsIn(c.Args.Example))
		case (value("script") == "") == (value("script-file") == ""):
			return usage(message.Error("give either --script or --script-file"), message.AsIn(c.Args.Example))
		}
		// The settings were checked when they were parsed; here they are only passed on.
		passed := append(givenFlags(cmd, c), "--result-file="+given["result-file"])
		passed = append(passed, "--")
		for i := range config.Table {
			if value, ok := given[config.Table[i].Name]; ok {
				passed = append(passed, "--"+config.Table[i].Name+"="+value)
			}
		}
		return runCompanion(cmd.Context(), stdioOf(cmd), c.Name, append(append(passed, "--"), args...)...)
	}
	return cmd
}
