package run

import (
	"errors"
	"io"
	"os"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// retriedFailures are the failures of a run that were retried, for a job of GitHub Actions.
type retriedFailures struct {
	name string
	list []actions.Failure
}

// observe takes note of a failure.
func (f *retriedFailures) observe(e belaytype.Event) {
	switch e := e.(type) {
	case belaytype.AttemptFailed:
		f.list = append(f.list, actions.Failure{Attempt: e.Attempt, Class: string(e.Verdict.Class), Text: e.Message})
	case belaytype.InnerRetry:
		if !e.Ended { // else the attempt has failed
			f.list = append(f.list, actions.Failure{Attempt: e.Attempt, Class: string(e.Verdict.Class), Text: message.Failed(f.name, e.Verdict.Class, e.Verdict.Evidence)})
		}
	}
}

// reportToGitHub tells a job of GitHub Actions how the run went: annotations on stderr, a summary and outputs in the files that the
// runner names. Others read all of it, so it holds no secrets.
func reportToGitHub(stderr io.Writer, retried retriedFailures, inv *engine.Invocation, r *belaytype.Result) error {
	report := actions.Report{Command: inv.Redact(retried.name), Name: inv.Redact(r.Name), Success: r.Success, Class: string(r.Verdict.Class), Error: inv.Redact(r.Error), Attempts: r.Attempts,
		Waited: r.Waited, Duration: r.Duration, ExitCode: r.ExitCode, Session: r.Session, Input: r.Usage.InputTokens, Output: r.Usage.OutputTokens,
		Cost: r.Usage.CostUSD, Estimated: r.Usage.Estimated}
	if c := r.Check; c != nil && !c.Passed {
		report.Error += "\n" + (&redact.Known{Env: os.Environ()}).Text(checkedText(c)) // which is kept out of all else that is redacted
	}
	for _, f := range retried.list {
		f.Text = inv.Redact(f.Text)
		report.Add(f)
	}
	annotation := report.Annotation()
	if annotation != "" {
		annotation = "\n" + annotation // the command's last line may have no end, and the runner looks for commands where a line begins
	}
	return errors.Join(
		term.Text(stderr, annotation),
		actions.AppendTo(os.Getenv("GITHUB_STEP_SUMMARY"), report.Summary()),
		actions.AppendTo(os.Getenv("GITHUB_OUTPUT"), report.Outputs()))
}
