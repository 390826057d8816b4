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
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// find finds the record of the session that an argument names.
func find(r *request.Request) (cli *agent.Descriptor, id, path string, err error) {
	if len(r.Rest) == 0 {
		return nil, "", "", &request.UsageError{Err: message.Error("no session given, as in " + r.Command.Args.Example)}
	}
	id = strings.ToLower(r.Rest[0])
	if cli, path = profile.FindRecord(id, os.Environ()); cli == nil {
		none := fmt.Sprintf("no record of a session %s was found; see: belay sessions", printable.Line(id))
		return nil, "", "", &request.UsageError{Err: message.Error(none)}
	}
	return cli, id, path, nil
}

// checked is what belay sessions check and repair print as JSON.
type checked struct {
	Profile string `json:"profile"`
	*history.Report
	goOn string // how to
}

func examine(r *request.Request) (c checked, err error) {
	cli, id, path, err := find(r)
	if err != nil {
		return c, err
	}
	c.Profile, c.goOn = cli.Name, cli.ContinueHint()
	if c.Report, err = history.Examine(cli.Records, path, id, ""); err == nil {
		c.Refused = redact.Text(printable.Line(printable.Prefix(c.Refused, 500))) // as far as it is for people
	}
	return c, err
}

// next says what can be done about a session, and whether that is to repair it.
func (c *checked) next() (text string, repair bool) {
	switch {
	case !c.Broken:
		return message.Sentences("nothing stops session "+c.Session+" from going on", message.Continue(c.Session, c.goOn)), false
	case c.Hopeless() != "" || len(c.Found) == 0:
		return "session " + c.Session + " cannot be repaired. " + c.handOver(), false
	}
	return "to repair a copy: belay sessions repair " + c.Session, true
}

// handOver says how to go on in another session.
func (c *checked) handOver() string {
	return "A new session that is told what was done: belay run --hand-over --resume " + c.Session + " -- " + c.goOn
}

// Check is belay sessions check.
func Check(_ context.Context, r *request.Request) (code int, err error) {
	c, err := examine(r)
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
	fmt.Fprintf(&b, "session %s of %s\n", c.Session, c.Profile)
	if c.Refused != "" {
		fmt.Fprintf(&b, "  the service refused it: %s\n", c.Refused)
	}
	const most = 20
	for _, f := range c.Found[:min(most, len(c.Found))] {
		note := ""
		switch {
		case f.Healed:
			note = fmt.Sprintf(" (%s mends that by itself)", c.Profile)
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
func Repair(_ context.Context, r *request.Request) (int, error) {
	c, err := examine(r)
	if err != nil {
		return 1, err
	}
	if next, repair := c.next(); !repair {
		r.Say(next)
		return 1, nil
	}
	switch _, err = c.Mend(); {
	case errors.Is(err, history.ErrHopeless):
		r.Say(fmt.Sprintf("session %s %v. %s", c.Session, err, c.handOver()))
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
	r.Say(message.Sentences(fmt.Sprintf("repaired a copy as session %s, because of: %s", c.Repaired, because), message.Continue(c.Repaired, c.goOn)))
	return 0, term.Line(r.Out, c.Repaired)
}
