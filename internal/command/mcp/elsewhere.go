package mcp

import (
	"errors"
	"fmt"
	"io"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// unreadable says that a configuration cannot be read, or not understood.
func unreadable(l clientfile.Location, say func(string, error) string, err error) error {
	if wrong, ok := errors.AsType[*clientfile.SyntaxError](err); ok {
		return command.Fail(message.Error(say(l.Path, wrong), wrong))
	}
	return command.Fail(message.Error(fmt.Sprintf("cannot read the configuration of %s: %v", l.Client.Name, err), err))
}

// sayElsewhere names the other scopes that have servers of a state: what was said is not true of those.
func sayElsewhere(w io.Writer, t *target.Target, command string, state clientfile.State) {
	all := target.Target{Kind: t.Kind, Client: t.Client}
	places, _ := all.Locations()
	for _, l := range places {
		if string(l.Scope) == t.Scope {
			continue
		}
		file, err := clientfile.ReadAny(l)
		if err != nil || file == nil {
			continue
		}
		n := 0
		for _, e := range file.Entries {
			if e.State == state && e.Doubt == "" {
				n++
			}
		}
		if n > 0 {
			how := "not behind"
			if state == clientfile.Installed {
				how = "behind"
			}
			term.Line(w, fmt.Sprintf("Note: %s %s %s belay. To change that: belay mcp %s --client %s --scope %s",
				target.Entries(n, l), message.Verb(n, "is", "are"), how, command, l.Client.Name, l.Scope))
		}
	}
}
