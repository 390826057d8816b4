package rehearse

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/certificate"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse/certify"
	"github.com/belay-run/belay/internal/rehearse/scenario"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Certify is belay certify: which of Belay's promises hold with the agents that are installed. The exit code is 1 if a promise does not hold, or, with --against, if one is lost since that report.
func Certify(ctx context.Context, r *request.Request) (code int, err error) {
	agents, err := chosen(r.Rest)
	if err != nil {
		return 0, err
	}
	atATime, err := sideBySide(r)
	if err != nil {
		return 0, err
	}
	var before map[string][]certificate.Promise
	if path := r.Text("against"); path != "" {
		if before, err = certificate.Read(path); err != nil {
			return 0, &request.UsageError{Err: err}
		}
	}
	ctx, interrupted, stop := signals.Until(ctx)
	defer stop()
	for _, d := range agents {
		c, err := try(ctx, r, d, atATime)
		if ctx.Err() != nil {
			return interrupted(), nil
		}
		if err != nil {
			return 0, err
		}
		lost := c.Lost()
		if r.Text("against") != "" {
			lost = c.LostSince(before[d.Name])
			for _, name := range lost {
				r.Say(fmt.Sprintf("%s: lost since that report: %s", d.Name, name))
			}
		}
		if len(lost) > 0 {
			code = 1
		}
	}
	return code, nil
}

// chosen are the agents of those names; all that are installed where none is named.
func chosen(names []string) (list []*agent.Descriptor, err error) {
	if len(names) == 0 {
		list = installed()
	}
	for _, name := range names {
		d := profile.Find(name)
		if d == nil || !canRehearse(d) {
			return nil, &request.UsageError{Err: message.Error(name + " is not an agent that is installed and can be certified")}
		}
		list = append(list, d)
	}
	if len(list) == 0 {
		return nil, message.Error("no agent is installed that can be certified. See what is missing: belay doctor")
	}
	return list, nil
}

// try tries the promises of an agent, shows what came of each, and keeps it.
func try(ctx context.Context, r *request.Request, d *agent.Descriptor, atATime int) (*certificate.Certificate, error) {
	path, err := supervise.Look(d.Name, "")
	if err != nil {
		return nil, err
	}
	if !r.On("json") {
		term.Printf(r.Out, "%s (%s)\n", d.Name, path)
	}
	version, err := doctor.Version(path)
	if err != nil {
		return nil, fmt.Errorf("%s --version: %w", d.Name, err)
	}
	c, err := certify.Certify(ctx, r.Belay, d, path, version, atATime, func(o scenario.Outcome) {
		if !r.On("json") {
			o.WriteText(r.Out)
		}
	})
	if err != nil {
		return nil, err
	}
	if r.On("json") {
		err = term.JSON(r.Out, c)
	} else {
		err = term.Printf(r.Out, "%s %s: %d of %d promises hold\n", d.Name, c.Version, len(c.Promises)-len(c.Lost()), len(c.Promises))
	}
	if s, wrong := state.Open(""); wrong == nil {
		err = errors.Join(err, c.Keep(s.Dir))
	}
	return c, err
}
