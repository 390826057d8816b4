package rehearse

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	"github.com/belay-run/belay/internal/printable"
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
	scenarios, err := scenariosOf(r.Rest, r.On("update"))
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	atATime, err := sideBySide(r)
	if err != nil {
		return 0, err
	}
	var junit *os.File
	if path := r.Text("junit"); path != "" {
		if junit, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
			return 0, &request.UsageError{Err: err}
		}
		defer junit.Close()
	}
	github := r.On("github") || os.Getenv("GITHUB_ACTIONS") == "true"

	ctx, code, stop := signals.Until(ctx)
	defer stop()
	begun := time.Now()
	report := scenario.Run(ctx, r.Belay, scenarios, atATime, func(o scenario.Outcome) {
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
	if r.On("update") {
		return 0, errors.Join(err, update(r, report))
	}
	return min(report.Failed(), 1), err
}

// update writes what was seen into the files of the scenarios that did not pass, and shows what it changes.
func update(r *request.Request, report scenario.Report) error {
	list, err := report.Updates()
	for _, u := range list {
		err = errors.Join(err, term.Text(r.Err, u.Diff()), u.Write())
	}
	return err
}

// scenariosOf are the scenarios of files and directories; those of this directory where none are named.
func scenariosOf(paths []string, toUpdate bool) (all []*scenario.Scenario, err error) {
	if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		files, wrong := scenario.Find(path)
		err = errors.Join(err, wrong)
		for _, file := range files {
			list, wrong := scenario.Read(file, toUpdate)
			all, err = append(all, list...), errors.Join(err, wrong)
		}
	}
	return all, err
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
		if e.Kind == "" && printable.IsPart(id, e.Invocation) {
			run = append(run, e)
		}
	}
	if len(run) == 0 {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s is not in the log. List runs with: belay log", id))}
	}
	d := profile.Find(run[0].Profile)
	if d == nil || !d.IsAgent() {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s was not of an agent, so its service cannot be rehearsed", id))}
	}
	return term.Text(r.Out, scenario.FromRun(run, d))
}

// Init is belay rehearse init: it writes three scenarios to begin with, for the agents that are installed.
func Init(_ context.Context, r *request.Request) (int, error) {
	dir := "scenarios"
	if len(r.Rest) > 0 {
		dir = r.Rest[0]
	}
	agents := installed()
	if len(agents) == 0 {
		return 0, message.Error("no agent is installed that can be rehearsed. See what is missing: belay doctor")
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	files := scenario.Examples(agents)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			r.Say(path + " exists and is left as it is")
			continue
		}
		if err == nil {
			_, err = f.WriteString(files[name])
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
