package engine

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
)

// standIn is a fallback that fits the command.
type standIn struct {
	call.Fallback
	agent  agent.Agent
	args   []string
	dir    string
	prompt *string
}

// standIns finds out how the fallbacks are started for a command. Those that are optional and do not fit are left out; unfit says
// why. The error is a [*UsageError].
func standIns(r *call.Settings, c *belaytype.Command) (list []standIn, unfit []*belaytype.FallbackRefused, err error) {
	for _, f := range r.Fallbacks {
		s, refused := newStandIn(r, f, c)
		switch {
		case refused == nil:
			list = append(list, s)
		case !f.Optional || profile.Find(f.Profile) == nil && refused.Why != message.FallbackNotNeeded():
			return nil, nil, &belaytype.UsageError{Err: refused}
		case refused.Why != message.FallbackNotNeeded():
			unfit = append(unfit, refused)
		}
	}
	return list, unfit, nil
}

// newStandIn finds out how a fallback is started for a command.
func newStandIn(r *call.Settings, f call.Fallback, c *belaytype.Command) (s standIn, refused *belaytype.FallbackRefused) {
	refuse := func(why string) (standIn, *belaytype.FallbackRefused) {
		return standIn{}, &belaytype.FallbackRefused{Fallback: f.Name(), Why: why}
	}
	first, ok := r.Profile.(agent.Agent)
	if !ok || !first.Headless() || first.Info().Once || first.Info().Request == nil {
		return refuse(message.FallbackNotNeeded())
	}
	cli := profile.Find(f.Profile)
	if cli == nil || !cli.IsAgent() {
		return refuse(fmt.Sprintf("there is no agent %q; there are %s", f.Profile, strings.Join(profile.Agents(), ", ")))
	}
	info := first.Info()
	if r.Resume.Session != "" || info.GoesOn || info.Resumes != "" || info.Fixed != "" {
		return refuse("a session can only be continued by the agent that it belongs to")
	}
	if f.Model != "" && cli.StandIn.Model == "" {
		return refuse(cli.Name + " has no option for the model")
	}
	s = standIn{Fallback: f, dir: c.Dir, prompt: c.Prompt}
	switch same := first.Name() == cli.Name; {
	case same && f.Model == "" && f.Args == nil:
		return refuse(fmt.Sprintf("it is the command itself; name another model, as in %s:MODEL", cli.Name))
	case same && f.Args == nil:
		s.args = info.WithModel(f.Model)
	default:
		request := info.Request()
		options, refused := options(&f, cli, first, request)
		if refused == nil && !same && c.Stdout != nil && first.Info().Form != agent.Text {
			refused = &belaytype.FallbackRefused{Fallback: f.Name(), Why: fmt.Sprintf("%s cannot print its answer in the format that %s was asked for", cli.Name, first.Name()), Form: true}
		}
		if refused != nil {
			return standIn{}, refused
		}
		command := cli.Name
		if own := profile.OfCommand(c.Args[0]); same && own != nil && own.Name == cli.Name {
			command = c.Args[0]
		}
		s.args = append([]string{command}, options...)
		s.prompt = wholePrompt(request.Prompt, c.Prompt)
		if s.dir = request.Dir; s.dir == "" || !filepath.IsAbs(s.dir) && c.Dir != "" {
			s.dir = filepath.Join(c.Dir, s.dir)
		}
	}
	if _, err := r.StarterInUse().Look(s.args[0], s.dir); err != nil {
		return refuse(err.Error())
	}
	bound, _ := profile.Bind(cli.Name, s.args, c.Env, s.dir) // the name is known
	if s.agent, ok = bound.(agent.Agent); !ok || !s.agent.Headless() || s.agent.Info().Once {
		return refuse(fmt.Sprintf("with the arguments given for it, %s does not work on a request", cli.Name))
	}
	return s, nil
}

// options are the options that a CLI is started with in the place of another one.
func options(f *call.Fallback, cli *agent.Descriptor, first agent.Agent, request agent.Request) (options []string, refused *belaytype.FallbackRefused) {
	ask := cli.Ask
	if cli.StandIn.Ask != nil {
		ask = slices.DeleteFunc(slices.Clone(cli.StandIn.Ask), func(a string) bool { return a != "" && slices.Contains(f.Args, a) })
	}
	options = slices.Clone(ask)
	if f.Model != "" {
		options = append(options, cli.StandIn.Model, f.Model)
	}
	if f.Args != nil {
		return append(options, f.Args...), nil
	}
	refuse := func(why string) ([]string, *belaytype.FallbackRefused) {
		return nil, &belaytype.FallbackRefused{Fallback: f.Name(), Why: why, Args: true}
	}
	firstCLI := profile.Find(first.Name())
	switch {
	case request.Own != "":
		return refuse(message.FallbackOption(first.Name(), request.Own, cli.Name))
	case request.AllowAll && cli.StandIn.AllowAll == "" && !cli.StandIn.Open:
		return refuse(message.FallbackOption(first.Name(), firstCLI.StandIn.AllowAll, cli.Name))
	case request.NoSession && cli.StandIn.NoSession == "":
		return refuse(message.FallbackOption(first.Name(), firstCLI.StandIn.NoSession, cli.Name))
	case cli.StandIn.Open && !firstCLI.StandIn.Open && !request.AllowAll:
		return refuse(fmt.Sprintf("by default %s changes files and runs commands without permission, and %s does not", cli.Name, first.Name()))
	}
	if request.AllowAll && cli.StandIn.AllowAll != "" {
		options = append(options, cli.StandIn.AllowAll)
	}
	if request.NoSession {
		options = append(options, cli.StandIn.NoSession)
	}
	return options, nil
}

// wholePrompt is what an agent was asked in its command line and beside it; nil if all of it is on stdin.
func wholePrompt(own string, beside *string) *string {
	switch {
	case own == "":
		return beside
	case beside == nil:
		return &own
	}
	whole := own + "\n\n" + *beside
	return &whole
}
