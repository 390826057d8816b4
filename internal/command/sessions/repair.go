package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// session is one whose record was found.
type session struct {
	cli      *agent.Descriptor
	id, path string
}

// find finds the session that an argument names.
func find(r *request.Request) (s session, err error) {
	if len(r.Rest) == 0 {
		return s, &request.UsageError{Err: message.Error("no session given, as in " + r.Command.Args.Example)}
	}
	s.id = strings.ToLower(r.Rest[0])
	if s.cli, s.path = profile.FindRecord(s.id, os.Environ()); s.cli == nil {
		return s, &request.UsageError{Err: message.Error(fmt.Sprintf("no record of a session %s was found; see: belay sessions", printable.Line(r.Rest[0])))}
	}
	return s, nil
}

func examine(r *request.Request) (s session, report *history.Report, err error) {
	if s, err = find(r); err != nil {
		return s, nil, err
	}
	report, err = history.Examine(s.cli.Records, s.path, s.id, "")
	return s, report, err
}

// checked is what belay sessions check and repair print as JSON.
type checked struct {
	Profile  string            `json:"profile"`
	Session  string            `json:"session"`
	Bytes    int64             `json:"bytes"`
	Version  string            `json:"version,omitempty"`
	Broken   bool              `json:"broken"`
	Refused  string            `json:"refused,omitempty"`
	Found    []history.Finding `json:"found"`
	Repaired string            `json:"repaired,omitempty"`
}

func newChecked(s session, r *history.Report) checked {
	return checked{Profile: s.cli.Name, Session: s.id, Bytes: r.Bytes, Version: r.Version, Broken: r.IsBroken(), Refused: refused(r), Found: append([]history.Finding{}, r.Found...)}
}

// refused is the service's last word, as far as it is for people.
func refused(r *history.Report) string {
	return redact.Text(printable.Line(printable.Prefix(r.Refused, 500)))
}

// Check is belay sessions check.
func Check(_ context.Context, r *request.Request) (int, error) {
	s, report, err := examine(r)
	if err != nil {
		return 1, err
	}
	code := 0
	if report.IsBroken() {
		code = 1
	}
	if r.On("json") {
		return code, term.JSON(r.Out, newChecked(s, report))
	}
	if err := list(r, s, report); err != nil {
		return 1, err
	}
	switch {
	case code == 0:
		return 0, term.Line(r.Out, "nothing stops it from going on: "+message.ResumeCommand(s.id, s.cli.ContinueHint()))
	case report.Hopeless() != "" || len(report.Found) == 0:
		return 1, term.Line(r.Out, "it cannot be repaired. "+handOver(s))
	}
	return 1, term.Line(r.Out, "to repair a copy: belay sessions repair "+s.id)
}

// handOver says how to go on in another session.
func handOver(s session) string {
	return "A new session that is told what was done: belay run --hand-over --resume " + s.id + " -- " + s.cli.ContinueHint()
}

// list says what was found.
func list(r *request.Request, s session, report *history.Report) error {
	errs := []error{term.Printf(r.Out, "session %s of %s (%s)\n", s.id, s.cli.Name, printable.Size(report.Bytes))}
	if report.Refused != "" {
		errs = append(errs, term.Printf(r.Out, "  the service refused it: %s\n", refused(report)))
	}
	const most = 20
	for i, f := range report.Found {
		if i == most {
			errs = append(errs, term.Printf(r.Out, "  and %d more\n", len(report.Found)-most))
			break
		}
		note := ""
		switch {
		case f.Healed:
			note = fmt.Sprintf(" (%s mends that by itself)", s.cli.Name)
		case f.Mend != "":
			note = " (in a repaired copy: " + f.Mend + ")"
		}
		errs = append(errs, term.Printf(r.Out, "  %s%s\n", f.String(), note))
	}
	return errors.Join(errs...)
}

// Repair is belay sessions repair.
func Repair(_ context.Context, r *request.Request) (int, error) {
	s, report, err := examine(r)
	if err != nil {
		return 1, err
	}
	switch {
	case !report.IsBroken():
		r.Say(message.Sentences("nothing stops session "+s.id+" from going on", message.Continue(s.id, s.cli.ContinueHint())))
		return 1, nil
	case len(report.Found) == 0:
		r.Say("the service refused session " + s.id + ", and its record does not show why. " + handOver(s))
		return 1, nil
	}
	mended, err := report.Mend()
	if errors.Is(err, history.ErrHopeless) {
		r.Say(fmt.Sprintf("session %s %v. %s", s.id, err, handOver(s)))
		return 1, nil
	}
	if err != nil {
		return 1, err
	}
	if r.On("json") {
		c := newChecked(s, report)
		c.Repaired = mended
		return 0, term.JSON(r.Out, c)
	}
	r.Say(message.Sentences(fmt.Sprintf("repaired a copy as session %s, because of: %s", mended, summary(report)), message.Continue(mended, s.cli.ContinueHint())))
	return 0, term.Line(r.Out, mended)
}

// summary says how many flaws of which kind were found.
func summary(report *history.Report) string {
	n := map[history.Flaw]int{}
	var order []string
	for _, f := range report.Found {
		if n[f.Flaw]++; n[f.Flaw] == 1 {
			order = append(order, string(f.Flaw))
		}
	}
	for i, name := range order {
		f := history.Flaw(name)
		if order[i] = f.String(); n[f] > 1 {
			order[i] += fmt.Sprintf(" (%d times)", n[f])
		}
	}
	return strings.Join(order, ", ")
}
