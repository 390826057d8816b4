package rehearse

import (
	"cmp"
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

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Test is belay rehearse test. The exit code is 1 if a scenario is not as expected.
func Test(ctx context.Context, r *request.Request) (int, error) {
	if id := r.Text("record"); id != "" {
		return 0, record(r, id)
	}
	paths := r.Rest
	if len(paths) == 0 {
		paths = []string{"."}
	}
	scenarios, err := scenario.Read(r.On("update"), paths...)
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	atATime, err := sideBySide(r)
	if err != nil {
		return 0, err
	}
	junit, err := os.OpenFile(cmp.Or(r.Text("junit"), os.DevNull), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	defer junit.Close()
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
		err = term.JSONLines(r.Out, report)
	} else {
		err = term.Line(r.Out, report.Sum(took))
	}
	err = errors.Join(err, report.WriteJUnit(junit, took))
	if github {
		err = errors.Join(err, actions.AppendTo(os.Getenv("GITHUB_STEP_SUMMARY"), report.Summary(took)))
	}
	if r.On("update") {
		updates, wrong := report.Updates()
		for _, u := range updates {
			wrong = errors.Join(wrong, term.Text(r.Err, u.Diff()), u.Write())
		}
		return 0, errors.Join(err, wrong)
	}
	return min(report.Failed(), 1), err
}

// sideBySide is how many scenarios run at a time: two for each core, since they mostly wait.
func sideBySide(r *request.Request) (int, error) {
	text := cmp.Or(r.Text("jobs"), strconv.Itoa(2*runtime.NumCPU()))
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, &request.UsageError{Err: message.Error(fmt.Sprintf("-j: %q is not a number of scenarios", text))}
	}
	return n, nil
}

// record prints a scenario of a run in the log.
func record(r *request.Request, id string) error {
	s, err := state.Open("")
	if err != nil {
		return err
	}
	run := scenario.RunsOf(s, id)
	if len(run) == 0 {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s is not in the log. List runs with: belay log", id))}
	}
	d := profile.Find(run[0].Profile)
	if d == nil || d.Rehearsal.Ask == nil || !d.IsAgent() {
		return &request.UsageError{Err: message.Error(fmt.Sprintf("run %s was not of an agent with a stand-in, so its service cannot be rehearsed", id))}
	}
	return term.Text(r.Out, scenario.FromRun(run, d))
}

// Init is belay rehearse init: it writes three scenarios to begin with, for the agents that are installed.
func Init(_ context.Context, r *request.Request) (int, error) {
	dir := slices.Concat(r.Rest, []string{"scenarios"})[0]
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
		if _, err := os.Lstat(path); err == nil {
			r.Say(path + " exists and is left as it is")
			continue
		}
		if err := os.WriteFile(path, []byte(files[name]), 0o666); err != nil {
			return 0, err
		}
		r.Say("wrote " + path)
	}
	r.Say("run them with: belay rehearse test " + dir)
	return 0, nil
}

// installed are the agents on the PATH that have been used.
func installed() []*agent.Descriptor {
	return slices.DeleteFunc(profile.Known(), func(d *agent.Descriptor) bool { return !canRehearse(d) })
}

// canRehearse reports whether an agent is on the PATH, and has a stand-in.
func canRehearse(d *agent.Descriptor) bool {
	_, err := supervise.Look(d.Name, "")
	return err == nil && d.IsAgent() && d.Rehearsal.Ask != nil
}
