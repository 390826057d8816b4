package command

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/version"
)

// belaydName is the executable that does what weighs too much for every call to carry.
const belaydName = "belayd"

// InstallBelayd is where it says how both are installed: by a package, the script or go install, whichever it was.
const InstallBelayd = "https://github.com/belay-run/belay/blob/main/docs/install.md"

// HandOver hands this process over to belayd, or runs it and ends with its code where that cannot be done. It finds
// out by itself whether it is of our version.
func HandOver(ctx context.Context, std stdio.Streams, what string, args ...string) error {
	path, argv, err := Belayd(what, what)
	if err != nil {
		return err
	}
	code, err := Become(ctx, std, path, append(argv, args...))
	if err != nil {
		return Fail(message.Error(message.CannotStart(path, err), err))
	}
	return Exit(code)
}

// Belayd is where belayd is, and how it is called for something. command is what cannot be done without it.
func Belayd(command, what string) (path string, argv []string, err error) {
	self, err := Executable()
	if err != nil {
		return "", nil, Fail(err)
	}
	if path, err = findBelayd(self); err != nil {
		err = fmt.Errorf("belay %s needs %s, which is not next to belay or on the PATH", command, belaydName)
		return "", nil, WithHint(Fail(err), "to install both, see "+InstallBelayd)
	}
	return path, []string{path, "--for", version.Pair(), "--belay", self, what}, nil
}

// findBelayd looks beside belay, also where a link to it leads, and then on the PATH.
func findBelayd(self string) (string, error) {
	name := belaydName
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
	path, err := supervise.Look(belaydName, "")
	if err != nil {
		return "", errors.Join(os.ErrNotExist, err)
	}
	return path, nil
}

// Fold has belayd take the log into its database after a failed run: that is when users ask about it, and when an
// alert may have to be sent. With telemetry it does so after every run, and sends what there is. It is not waited for, and without
// belayd only this is missing. BELAY_FOLD=off is for machines that are thrown away.
func Fold(r *belaytype.Result, telemetry bool) {
	if r.Log != "" && (!r.Success || telemetry) {
		FoldAndSend(telemetry)
	}
}

// FoldLog has belayd take the log into its database, and does not wait for it.
func FoldLog() { FoldAndSend(false) }

// FoldAndSend does the same, and has belayd send what there is with telemetry.
func FoldAndSend(telemetry bool) {
	if os.Getenv(state.FoldVar) == "off" {
		return
	}
	if path, argv, err := Belayd("", belayd.Fold); err == nil {
		if telemetry {
			argv = append(argv, "--"+belayd.Telemetry)
		}
		supervise.Detach(path, argv)
	}
}

// AlertText says that an alert was raised. That of a forecast has it delivered: the run goes on, and may well succeed.
func AlertText(e belaytype.AlertRaised) string {
	if e.Failures == 0 {
		FoldLog()
		return "alert: " + e.Last + ". See: belay limits"
	}
	return message.Alert(e.Integration, e.Failures, e.Within)
}
