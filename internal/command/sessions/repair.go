package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// session is one whose record was found.
type session struct {
	cli      *agent.Descriptor
	id, path string
}

// find finds the session that an argument names.
func find(ctx context.Context, r *request.Request) (s session, err error) {
	if len(r.Rest) == 0 {
		return s, &request.UsageError{Err: message.Error("no session given, as in " + r.Command.Args.Example)}
	}
	if s.id = strings.ToLower(r.Rest[0]); !agent.IsUUID(s.id) {
		if s.id, err = onRecord(ctx, r, s.id); err != nil {
			return s, err
		}
	}
	if s.cli, s.path = profile.FindRecord(s.id, os.Environ()); s.cli == nil {
		return s, &request.UsageError{Err: message.Error(fmt.Sprintf("no record of a session %s was found; see: belay sessions", printable.Line(s.id)))}
	}
	return s, nil
}

// onRecord is the session of which a part of its id was given, or the one that was used last.
func onRecord(ctx context.Context, r *request.Request, part string) (id string, err error) {
	q := question.New(r)
	defer q.Close()
	if err := q.Ask(ctx); err != nil {
		return "", err
	}
	f := record.Filter{Session: part, Limit: 2}
	if part == "last" {
		f = record.Filter{Limit: 1}
	}
	list, err := q.DB.Sessions.List(ctx, f, "")
	switch {
	case err != nil || len(list) == 0:
		return part, err
	case len(list) > 1:
		return "", &request.UsageError{Err: message.Error(fmt.Sprintf("several sessions begin or end with %s; see: belay sessions %[1]s", printable.Line(part)))}
	}
	return list[0].ID, nil
}

// checked is what belay sessions check and repair print as JSON.
type checked struct {
	session
	Profile string `json:"profile"`
	*history.Report
	Broken   bool   `json:"broken"`
	Repaired string `json:"repaired,omitempty"`
}

func examine(ctx context.Context, r *request.Request) (c checked, err error) {
	if c.session, err = find(ctx, r); err != nil {
		return c, err
	}
	c.Profile = c.cli.Name
	if c.Report, err = history.Examine(c.cli.Records, c.path, c.id, ""); err != nil {
		return c, err
	}
	c.Broken = c.IsBroken()
	c.Refused = redact.Text(printable.Line(printable.Prefix(c.Refused, 500))) // as far as it is for people
	return c, nil
}

// next says what can be done about a session, and whether that is to repair it.
func (c *checked) next() (text string, repair bool) {
	switch {
	case !c.Broken:
		return message.Sentences("nothing stops session "+c.id+" from going on", message.Continue(c.id, c.cli.ContinueHint())), false
	case c.Hopeless() != "" || len(c.Found) == 0:
		return "session " + c.id + " cannot be repaired. " + c.handOver(), false
	}
	return "to repair a copy: belay sessions repair " + c.id, true
}

// handOver says how to go on in another session.
func (s *session) handOver() string {
	return "A new session that is told what was done: belay run --hand-over --resume " + s.id + " -- " + s.cli.ContinueHint()
}

// Check is belay sessions check.
func Check(ctx context.Context, r *request.Request) (code int, err error) {
	c, err := examine(ctx, r)
	if err != nil || c.Broken {
		code = 1
	}
	switch {
	case err != nil:
		return code, err
	case r.On("json"):
		return code, term.JSON(r.Out, c)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "session %s of %s (%s)\n", c.id, c.cli.Name, printable.Size(c.Bytes))
	if c.Refused != "" {
		fmt.Fprintf(&b, "  the service refused it: %s\n", c.Refused)
	}
	const most = 20
	for _, f := range c.Found[:min(most, len(c.Found))] {
		note := ""
		switch {
		case f.Healed:
			note = fmt.Sprintf(" (%s mends that by itself)", c.cli.Name)
		case f.Mend != "":
			note = " (in a repaired copy: " + f.Mend + ")"
		}
		fmt.Fprintf(&b, "  %s%s\n", f.String(), note)
	}
	if more := len(c.Found) - most; more > 0 {
		fmt.Fprintf(&b, "  and %d more\n", more)
	}
	next, _ := c.next()
	return code, term.Text(r.Out, b.String()+next+"\n")
}

// Repair is belay sessions repair.
func Repair(ctx context.Context, r *request.Request) (int, error) {
	c, err := examine(ctx, r)
	if err != nil {
		return 1, err
	}
	if next, repair := c.next(); !repair {
		r.Say(next)
		return 1, nil
	}
	c.Repaired, err = c.Mend()
	switch {
	case errors.Is(err, history.ErrHopeless):
		r.Say(fmt.Sprintf("session %s %v. %s", c.id, err, c.handOver()))
		return 1, nil
	case err != nil:
		return 1, err
	case r.On("json"):
		return 0, term.JSON(r.Out, c)
	}
	var why []string
	for _, f := range c.Found {
		why = append(why, f.What)
	}
	slices.Sort(why)
	because := strings.Join(slices.Compact(why), ", ")
	r.Say(message.Sentences(fmt.Sprintf("repaired a copy as session %s, because of: %s", c.Repaired, because), message.Continue(c.Repaired, c.cli.ContinueHint())))
	return 0, term.Line(r.Out, c.Repaired)
}
