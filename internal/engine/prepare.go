package engine

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/supervise"
)

// check finds, before anything is started, what cannot work.
func check(r *call.Settings, c *call.Command, env []string) error {
	if len(c.Args) == 0 || c.Args[0] == "" {
		return &belaytype.UsageError{Err: errors.New(message.NoCommand())}
	}
	for _, a := range c.Args {
		if strings.ContainsRune(a, 0) {
			return &belaytype.UsageError{Err: errors.New("an argument contains a NUL byte")}
		}
	}
	if why := unkept(r, c.Name()); why != "" {
		return &belaytype.UsageError{Err: message.Error(why)}
	}
	if c.Dir != "" {
		info, err := os.Stat(c.Dir)
		switch {
		case errors.Is(err, os.ErrNotExist):
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s does not exist", c.Dir)}
		case err != nil:
			return &belaytype.UsageError{Err: fmt.Errorf("%s: %w", fmt.Sprintf("working directory %s cannot be used", c.Dir), err)}
		case !info.IsDir():
			return &belaytype.UsageError{Err: fmt.Errorf("working directory %s is not a directory", c.Dir)}
		}
	}
	if err := supervise.CheckArgs(c.Args, env); err != nil {
		tooLong := &belaytype.TooLong{Err: err}
		if r.Words != nil {
			if text := r.Words(tooLong); text != "" {
				return &belaytype.UsageError{Err: errors.New(text)}
			}
		}
		return &belaytype.UsageError{Err: tooLong}
	}
	return nil
}

// checkable finds, before anything is started, why the work of a command cannot be checked.
func checkable(r *call.Settings, c *call.Command, env []string) error {
	if r.Check.Line == "" && c.Check == nil {
		return nil
	}
	if NoCheck(r.Profile) {
		return &belaytype.UsageError{Err: errors.New(message.NoCheck(c.Name()))}
	}
	if err := supervise.CheckArgs(supervise.Shell(r.Check.Line), env); err != nil {
		return &belaytype.UsageError{Err: fmt.Errorf("the check: %w", err)}
	}
	return nil
}

// unkept is why the command cannot be held to what is asked of it; empty if it can.
func unkept(r *call.Settings, name string) string {
	asked := &r.Ceilings
	switch {
	case r.RequireModel != "" && Tells(r.ProfileInUse()).Model == nil:
		return message.ModelUntold(name)
	case asked.Memory > 0 && !supervise.MemoryLimits():
		return message.MemoryUntold()
	case asked.Repeats > 0 && !Tells(r.ProfileInUse()).TellsCalls:
		return message.Untold(name, "tool calls")
	case asked.Agents > 0 && !Tells(r.ProfileInUse()).TellsAgents:
		return message.Untold(name, "sub-agents")
	}
	return ""
}

// Tells is what is known of a command of that profile that works by itself, and so can be held to a limit on that; nothing of any other.
func Tells(p agent.Profile) (info agent.Info) {
	if a, ok := p.(agent.Agent); ok && a.Headless() {
		info = a.Info()
	}
	if info.Unknown != "" {
		info.Model = nil
	}
	return info
}
