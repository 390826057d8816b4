package jobs

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/fleet/files"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
)

// Allow is what jobs may do on a machine: what its own user says, not what a job says of itself. The zero value allows nothing.
type Allow struct {
	// Profiles are the CLIs that jobs may run. generic allows any command.
	Profiles []string
	// Plain are CLIs that jobs may run with arguments that start nothing else, and without files of their own: these have settings that start something.
	Plain []string
	// Roots are directories; jobs may work in them and below.
	Roots []string
	// Repositories are those whose commits jobs may work on; those in the roots are allowed too.
	Repositories []string
	// Archives allows jobs to bring their files as an archive.
	Archives bool
	// Env are names of variables that jobs may set.
	Env []string
	// Restrict returns which flags and labels of a job take effect for a CLI, and why a job may not give them. Nil takes none.
	Restrict func(flags, tags map[string]string, cli string) (map[string]string, map[string]string, error)
}

const anyCommand = "generic"

// check says why a job is not run here; nil if it is.
func (a *Allow) check(job *fleetpipe.Job) error {
	if len(job.Args) == 0 {
		return message.Error(message.FleetNoPayload())
	}
	if !slices.Contains(a.Profiles, anyCommand) {
		name := ""
		// A CLI is the one that this machine finds by its name. A path could lead to anything that has the same name.
		if d := profile.OfCommand(job.Args[0]); d != nil && filepath.Base(job.Args[0]) == job.Args[0] {
			name = d.Name
		}
		full := slices.Contains(a.Profiles, name)
		if name == "" || !full && !slices.Contains(a.Plain, name) || job.Profile != "" && job.Profile != name {
			return message.Error(fmt.Sprintf("%s is not among what jobs may run here (allow in [fleet])", printable.Line(job.Args[0])))
		}
		if !full {
			if err := checkPlain(job, name); err != nil {
				return err
			}
		}
	}
	for name := range job.Env {
		if !slices.Contains(a.Env, name) {
			return message.Error(fmt.Sprintf("jobs may not set %s here (allow_env in [fleet])", printable.Line(name)))
		}
	}
	if err := a.checkSettings(job); err != nil {
		return err
	}
	if job.Files != nil {
		return a.checkFiles(job)
	}
	if job.Dir == "" {
		return nil
	}
	dir, err := filepath.EvalSymlinks(job.Dir)
	if err != nil || !filepath.IsAbs(job.Dir) {
		return message.Error(fmt.Sprintf("there is no directory %s here", printable.Line(job.Dir)))
	}
	for _, root := range a.Roots {
		if real, err := filepath.EvalSymlinks(root); err == nil && files.Within(real, dir) {
			return nil
		}
	}
	return message.Error(message.FleetDirNotAllowed(job.Dir))
}

// checkSettings says why a job with these flags is not run here, and leaves of them what takes effect.
func (a *Allow) checkSettings(job *fleetpipe.Job) error {
	if a.Restrict == nil {
		job.Flags, job.Tags = nil, nil
		return nil
	}
	given, tags, err := a.Restrict(job.Flags, job.Tags, cmp.Or(profileOf(job), anyCommand))
	if err != nil {
		return err
	}
	if given["check"] != "" && !slices.Contains(a.Profiles, anyCommand) {
		return message.Error("jobs may not run checks here, which may be any command (generic is not in allow of [fleet])")
	}
	if text, falls := given["fallback"]; falls && !slices.Contains(a.Profiles, anyCommand) {
		own := profileOf(job)
		isPlain := !slices.Contains(a.Profiles, own)
		for one := range strings.SplitSeq(text, ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(one), ":")
			// Another model of the same CLI has the same arguments. Those for another CLI are made by belay run: they are not plain, and what makes these plain cannot be said there.
			if name != "" && (isPlain && name != own || !isPlain && !slices.Contains(a.Profiles, name)) {
				return message.Error(fmt.Sprintf("jobs may not fall back to %s, which is not among what they may run here (allow in [fleet])", printable.Line(name)))
			}
		}
	}
	job.Flags, job.Tags = given, tags
	return nil
}

// checkPlain says why a job is not run where its CLI may only start nothing else, and leaves in it the arguments for that.
func checkPlain(job *fleetpipe.Job, name string) error {
	if job.Files != nil {
		return message.Error(fmt.Sprintf("jobs may run %s only plain here, and not on files that they bring (allow in [fleet])", name))
	}
	args, refused := profile.Find(name).Plain(job.Args[1:])
	if job.Prompt != nil && strings.HasPrefix(strings.TrimSpace(*job.Prompt), "/") {
		refused, _, _ = strings.Cut(strings.TrimSpace(*job.Prompt), " ") // a command of the CLI's user, which may start something
	}
	if refused != "" {
		return message.Error(fmt.Sprintf("jobs may run %s only plain here, and not with %s (allow in [fleet])", name, printable.Line(refused)))
	}
	job.Args = append([]string{job.Args[0]}, args...)
	return nil
}

// checkFiles says why a job with files of its own is not run here.
func (a *Allow) checkFiles(job *fleetpipe.Job) error {
	if job.Dir != "" {
		return message.Error(message.FleetDirNotAllowed(job.Dir))
	}
	if job.Files.Archive != "" {
		if err := files.CheckArchive(job.Files); err != nil || a.Archives {
			return err
		}
		return message.Error(`jobs may not bring files with them here ("archive" in allow of [fleet])`)
	}
	r, err := files.Check(job.Files)
	if err == nil && !r.AllowedBy(a.Repositories, a.Roots) {
		err = message.Error(fmt.Sprintf("%s is not a repository that jobs may use here (allow in [fleet])", printable.Line(r.String())))
	}
	return err
}
