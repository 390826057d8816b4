package rehearse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Test is belay rehearse test. The exit code is 1 if a scenario is not as expected.
func Test(ctx context.Context, r *request.Request) (int, error) {
	if id := r.Text("record"); id != "" {
		return 0, record(r, id)
	}
	scenarios, err := scenariosOf(r.Rest)
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	atATime, err := sideBySide(r)
	if err != nil {
		return 0, err
	}
	junit, err := outputFile(r.Text("junit"))
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	defer junit.Close()
	github := r.On("github") || os.Getenv("GITHUB_ACTIONS") == "true"

	ctx, code, stop := signals.Until(ctx)
	defer stop()
	begun := time.Now()
	report := scenario.Run(ctx, host(r), scenarios, atATime, func(o scenario.Outcome) {
		if !r.On("json") {
			o.WriteText(r.Out)
		}
		if github {
			term.Text(r.Err, o.Annotation())
		}
	})
	if ctx.Err() != nil {
		return code(), nil
	}
	took := time.Since(begun)
	if r.On("json") {
		err = report.WriteJSON(r.Out)
	} else {
		err = term.Line(r.Out, report.Sum(took))
	}
	if junit != nil {
		err = errors.Join(err, report.WriteJUnit(junit, took))
	}
	if path := os.Getenv("GITHUB_STEP_SUMMARY"); github && path != "" {
		err = errors.Join(err, appendTo(path, report.Summary(took)))
	}
	return min(report.Failed(), 1), err
}

// scenariosOf are the scenarios of files and directories; those of this directory where none are named.
func scenariosOf(paths []string) (all []*scenario.Scenario, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	files, err := scenario.Find(paths)
	for _, file := range files {
		list, wrong := scenario.Read(file)
		all, err = append(all, list...), errors.Join(err, wrong)
	}
	return all, err
}

// host is this machine, for scenarios.
func host(r *request.Request) scenario.Host {
	return scenario.Host{Belay: r.Belay, Environ: os.Environ()}
}

// sideBySide is how many scenarios run at a time: two for each core, since they mostly wait.
func sideBySide(r *request.Request) (int, error) {
	text := r.Text("jobs")
	if text == "" {
		return 2 * runtime.NumCPU(), nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, &request.UsageError{Err: message.Error(fmt.Sprintf("-j: %q is not a number of scenarios", text))}
	}
	return n, nil
}

// outputFile is a file that replaces what is there; nil for an empty name.
func outputFile(path string) (*os.File, error) {
	if path == "" {
		return nil, nil
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func appendTo(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// record prints a scenario of a run in the log.
func record(r *request.Request, id string) error {
	s, err := state.Open("")
	if err != nil {
		return err
	}
	log, err := safefile.OpenOwn(s.LogPath(), os.O_RDONLY)
	if err != nil {
		return err
	}
	defer log.Close()
	var run []journal.Entry
	for e := range journal.Read(log, nil) {
		if e.Kind == "" && len(id) >= 4 && len(e.Invocation) >= len(id) && e.Invocation[:len(id)] == id {
			run = append(run, e)
		}
	}
	if len(run) == 0 {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s is not in the log. List runs with: belay log", id))}
	}
	d := find(run[0].Profile)
	if d == nil {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s was not of an agent, so its service cannot be rehearsed", id))}
	}
	return term.Text(r.Out, scenario.FromRun(run, d))
}

// find is the agent of that name; nil if there is none.
func find(name string) *agent.Descriptor {
	all := profile.All()
	if i := slices.IndexFunc(all, func(d *agent.Descriptor) bool { return d.Name == name && d.IsAgent() }); i >= 0 {
		return all[i]
	}
	return nil
}

// Init is belay rehearse init: it writes three scenarios to begin with, for the first agent that is installed.
func Init(_ context.Context, r *request.Request) (int, error) {
	dir := "scenarios"
	if len(r.Rest) > 0 {
		dir = r.Rest[0]
	}
	d := installed()
	if len(d) == 0 {
		return 0, message.Error("no agent is installed that can be rehearsed. See what is missing: belay doctor")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	for name, text := range scenario.Examples(d[0]) {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			r.Say(path + " exists and is left as it is")
			continue
		}
		if err == nil {
			_, err = f.WriteString(text)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			return 0, err
		}
		r.Say("wrote " + path)
	}
	r.Say("run them with: belay rehearse test " + dir)
	return 0, nil
}

// installed are the agents on the PATH.
func installed() (list []*agent.Descriptor) {
	for _, d := range profile.All() {
		if _, err := supervise.Look(d.Name, ""); err == nil && d.IsAgent() && d.Rehearsal.Ask != nil {
			list = append(list, d)
		}
	}
	return list
}
