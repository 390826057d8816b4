// Package doctor is belay doctor. The checks are in internal/doctor; here belay and belayd check themselves.
package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/version"
)

// New makes belay doctor.
func New() *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check the setup and suggest fixes",
		Example: `Check everything:
  belay doctor
The same for a script, one finding a line:
  belay doctor --json`,
		Long: `Checks the agent CLIs: where they are, whether Belay is tested with their versions, and whether you are logged in. Checks the
settings, the state directory, the record, closed gates, the clock, the disk, and what killed runs have left. It makes no network
requests. The record's database is checked by belayd; everything else works without it.

The exit code is 0 if nothing is wrong, and 1 otherwise.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			self, err := command.Executable()
			if err != nil {
				return command.Fail(err)
			}
			executables, database := checkExecutables(cmd.Context(), self)
			list := doctor.Examine(executables, database)
			if asJSON {
				err = term.JSONLines(cmd.OutOrStdout(), list)
			} else {
				err = doctor.Write(cmd.OutOrStdout(), list)
			}
			if err != nil {
				return command.Fail(err)
			}
			return command.Exit(min(doctor.Ill(list), 1))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one finding per line")
	return cmd
}

// checkExecutables returns the checks of belay and belayd themselves, and of the database that belayd has. belayd is asked once.
func checkExecutables(ctx context.Context, self string) (executables, database func() []doctor.Finding) {
	answered := make(chan []doctor.Finding, 1)
	executables = func() []doctor.Finding {
		list := doctor.One("belay", doctor.Fine, "", message.CLIVersion(term.Tilde(self), version.String(), runtime.GOOS+"/"+runtime.GOARCH))
		path, argv, err := command.Belayd("doctor", belayd.CheckDatabase)
		if err != nil {
			answered <- doctor.One("record", doctor.Note, "", "the database was not checked because belayd is missing")
			return append(list, doctor.One("belayd", doctor.Wrong, command.InstallBelayd, "not found next to belay or on the PATH; log, stats, sessions, top, rehearse and demo need it")...)
		}
		found, err := askDatabase(ctx, path, argv)
		if err != nil {
			answered <- doctor.One("record", doctor.Note, "", "the database was not checked because belayd did not answer")
			list = append(list, doctor.One("belayd", doctor.Wrong, command.InstallBelayd, fmt.Sprintf("%s: %v", term.Tilde(path), err))...)
		} else {
			answered <- found
			list = append(list, doctor.One("belayd", doctor.Fine, "", message.CLIVersion(term.Tilde(path), version.String(), ""))...)
		}
		// Another belay that comes first on the PATH is what scripts get.
		if first, err := supervise.Look("belay", ""); err == nil && !sameFile(first, self) {
			list = append(list, doctor.One("PATH", doctor.Note, "type -a belay", term.Tilde(first)+" is another belay and comes first on the PATH")...)
		}
		return list
	}
	return executables, func() []doctor.Finding { return <-answered }
}

// askDatabase has belayd look at its database. It refuses to answer a belay of another version.
func askDatabase(ctx context.Context, path string, argv []string) (list []doctor.Finding, err error) {
	var out, said bytes.Buffer
	var s supervise.Supervisor
	result, err := s.Run(supervise.Spec{Path: path, Args: argv, Env: os.Environ(),
		Stdout: &out, Stderr: &said, Placement: supervise.OwnGroup, Timeout: time.Minute}, func(p *supervise.Process) {
		context.AfterFunc(ctx, func() { p.Stop(supervise.Terminate) })
	})
	if err != nil {
		return nil, err
	}
	if result.ShellCode() != 0 {
		if text := strings.TrimPrefix(strings.TrimSpace(said.String()), "belay: "); text != "" {
			return nil, errors.New(text)
		}
		return nil, message.Error("it did not answer")
	}
	for dec := json.NewDecoder(&out); dec.More(); {
		var f doctor.Finding
		if err := dec.Decode(&f); err != nil {
			return nil, message.Error("its answer cannot be read")
		}
		list = append(list, f)
	}
	return list, nil
}

func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}
