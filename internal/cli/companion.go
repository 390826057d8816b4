package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/belay-run/belay/internal/message"
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
