package jobs

import (
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/companion/fleet/files"
	"github.com/belay-run/belay/internal/courier"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// Allow is what jobs may do on a machine: what its own user says, not what a job says of itself. The zero value allows nothing.
type Allow struct {
	// Profiles are the CLIs that jobs may run. generic allows any command.
	Profiles []string
	// Roots are directories; jobs may work in them and below.
	Roots []string
	// Repositories are those whose commits jobs may work on; those in the roots are allowed too.
	Repositories []string
	// Archives allows jobs to bring their files as an archive.
	Archives bool
	// Env are names of variables that jobs may set.
	Env []string
}

const anyCommand = "generic"

// check says why a job is not run here; nil if it is.
func (a *Allow) check(job *courier.Job) error {
	if len(job.Args) == 0 {
		return message.Error(message.FleetNoPayload())
	}
	if !slices.Contains(a.Profiles, anyCommand) {
		name := ""
		// A CLI is the one that this machine finds by its name. A path could lead to anything that has the same name.
		if d := profile.OfCommand(job.Args[0]); d != nil && filepath.Base(job.Args[0]) == job.Args[0] {
			name = d.Name
		}
		if name == "" || !slices.Contains(a.Profiles, name) || job.Profile != "" && job.Profile != name {
			return message.Error(message.FleetCommandNotAllowed(job.Args[0]))
		}
	}
	for name := range job.Env {
		if !slices.Contains(a.Env, name) {
			return message.Error(message.FleetEnvNotAllowed(name))
		}
	}
	for name := range job.Flags {
		if !flagAllowed(name) {
			return message.Error(message.FleetFlagNotAllowed(name))
		}
	}
	if job.Files != nil {
		return a.checkFiles(job)
	}
	if job.Dir == "" {
		return nil
	}
	dir, err := filepath.EvalSymlinks(job.Dir)
	if err != nil || !filepath.IsAbs(job.Dir) {
		return message.Error(message.FleetNoDir(job.Dir))
	}
	for _, root := range a.Roots {
		if real, err := filepath.EvalSymlinks(root); err == nil && files.Within(real, dir) {
			return nil
		}
	}
	return message.Error(message.FleetDirNotAllowed(job.Dir))
}

// checkFiles says why a job with files of its own is not run here.
func (a *Allow) checkFiles(job *courier.Job) error {
	if job.Dir != "" {
		return message.Error(message.FleetDirNotAllowed(job.Dir))
	}
	if job.Files.Archive != "" {
		if err := files.CheckArchive(job.Files); err != nil || a.Archives {
			return err
		}
		return message.Error(message.FilesArchivesNotAllowed())
	}
	r, err := files.Check(job.Files)
	if err == nil && !r.AllowedBy(a.Repositories, a.Roots) {
		err = message.Error(message.FilesNotAllowed(r.String()))
	}
	return err
}

// allowedFlags are the settings of belay run that a job may give.
var allowedFlags = []string{"max-retries", "preset", "base-delay", "max-delay", "factor", "jitter", "max-wait", "no-wait", "timeout", "total-timeout", "stall-timeout", "retry-timeouts",
	"retry-on-exit", "retry-on", "fail-on", "retry-unsafe", "verify-effect", "rate-limit-buffer", "reap", "gate", "no-gate", "max-parallel", "scope", "on-busy", "name", "max-cost",
	"no-resume-on-retry", "budget", "fallback"}

func flagAllowed(name string) bool { return slices.Contains(allowedFlags, name) }
