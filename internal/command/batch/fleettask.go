package batch

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/setup"
)

// notForFleet are flags that concern this process or machine, and those that a job has in fields of its own.
var notForFleet = []string{"cwd", "profile", "quiet", "verbose", "tag", "name", "timeout", "log-dir", "telemetry"}

// fleetTask is a task as another machine runs it.
func (r *recipe) fleetTask(t *batch.Task, hash batch.Hash, maxCost float64, again bool) (*fleetpipe.Task, error) {
	c, err := r.command(t)
	if err != nil {
		return nil, err
	}
	job := fleetpipe.Job{Args: c.args, Prompt: c.prompt, Env: t.Env, Parts: true, Conceal: concealed(t, &c), Profile: cmp.Or(t.Profile, r.given["profile"]), Flags: map[string]string{}, Tags: map[string]string{}}
	pick, err := r.pick(t, c.dir)
	if err != nil {
		return nil, err
	}
	if pick.By == fleetpipe.ByPath {
		job.Dir, pick = pick.Dir, nil
	}
	l, err := r.load(setup.NameOf(c.known))
	if err != nil {
		return nil, err
	}
	for name, value := range r.given {
		if !slices.Contains(notForFleet, name) {
			job.Flags[name] = value
		}
	}
	if r.waits(l.settings) && c.known != nil {
		job.Flags["max-wait"] = longestWait
	}
	if own := r.own(t)["check"]; own != "" {
		job.Flags["check"] = own
	}
	if timeout := t.Timeout; timeout > 0 {
		job.Flags["timeout"] = timeout.String()
	} else if text, ok := r.given["timeout"]; ok {
		job.Flags["timeout"] = text
	}
	if maxCost > 0 {
		if _, isAgent := c.known.(agent.Agent); isAgent {
			job.Flags["max-cost"] = fmt.Sprint(maxCost)
		}
	}
	if name := cmp.Or(t.Name, l.settings.Name); name != "" {
		job.Flags["name"] = name
	}
	maps.Copy(job.Tags, l.settings.Tags)
	maps.Copy(job.Tags, t.Tags)
	expires, err := r.options.expiry()
	if err != nil {
		return nil, err
	}
	return &fleetpipe.Task{ID: batch.TextID(t.ID), Hash: hash.String(), Needs: append(slices.Clone(r.options.needs()), t.Needs...), Expires: expires, Again: again, Pick: pick, Job: job}, nil
}

// concealed are the texts of a task that no log may quote. Workers know the prompt.
func concealed(t *batch.Task, c *taskCommand) []string {
	return slices.DeleteFunc(t.Texts(), func(text string) bool { return text == "" || c.prompt != nil && *c.prompt == text })
}

// pick says which files a task needs, and how they get to another machine. By a path, a task that names no directory needs none.
func (r *recipe) pick(t *batch.Task, dir string) (p *fleetpipe.Pick, err error) {
	p = &fleetpipe.Pick{By: cmp.Or(t.Files, r.options.files, fleetpipe.ByPath), Dir: dir}
	if p.By != fleetpipe.ByPath || dir != "" {
		p.Dir, err = filepath.Abs(dir)
	}
	return p, err
}

// longestWait is how long a job waits for limits unless the user says otherwise: a year.
const longestWait = "365d"
