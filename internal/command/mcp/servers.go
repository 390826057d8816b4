package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// serverRow is a server of a client's configuration.
type serverRow struct {
	Name   string `json:"name"`
	State  string `json:"state"` // direct, remote, behind belay, or behind belay, by hand
	Client string `json:"client"`
	Scope  string `json:"scope"`
	File   string `json:"file"`
	// Missing is the belay that stands in front of it, if that cannot be found.
	Missing string `json:"missing,omitempty"`
	// URL is where it is called over the network, by the client or by belay.
	URL string `json:"url,omitempty"`
	// Why is why belay mcp install leaves it alone.
	Why string `json:"why,omitempty"`
}

// showServers lists what a client's configuration has, of one scope or of all.
func showServers(w io.Writer, t *target.Target, asJSON bool) error {
	if _, err := t.Location(); err != nil {
		return err
	}
	looks, err := t.Look()
	if err != nil {
		return err
	}
	var troubles error
	var all []serverRow
	for _, l := range looks {
		if l.Err != nil {
			troubles = errors.Join(troubles, unreadable(l.Location, message.NotUnderstood, l.Err))
			continue
		}
		rows := serverRows(l)
		all = append(all, rows...)
		if !asJSON {
			sayServers(w, l, rows)
		}
	}
	if asJSON {
		return errors.Join(term.JSONLines(w, all), troubles)
	}
	if t.Scope != "" && troubles == nil {
		sayElsewhere(w, t, "install", clientfile.Direct)
	}
	return troubles
}

// sayServers lists the servers of one file, which was read or is not there.
func sayServers(w io.Writer, l target.Look, rows []serverRow) {
	if len(rows) == 0 {
		where := l.Path
		if l.File == nil {
			where += " does not exist"
		}
		term.Line(w, fmt.Sprintf("no MCP servers in the %s scope (%s)", l.Scope, where))
		return
	}
	term.Line(w, target.Entries(len(rows), l.Location)+":")
	for _, r := range rows {
		term.Printf(w, "%-20s %s\n", r.Name, r.State)
	}
	target.SayMissing(w, l.File)
}

// serverRows are the servers of a file.
func serverRows(l target.Look) (rows []serverRow) {
	if l.File == nil {
		return nil
	}
	for _, e := range l.File.Entries {
		row := serverRow{Name: e.Name, State: "direct", Client: l.Client.Name, Scope: string(l.Scope), File: l.Path, URL: redact.Text(e.URL), Why: cmp.Or(e.Why, e.Doubt)}
		if e.Remote || e.State == clientfile.Unfit && e.Command == "" {
			row.State = "remote"
		}
		switch e.State {
		case clientfile.Installed:
			row.State = "behind belay"
			if e.Missing() {
				row.Missing = e.Belay
			}
		case clientfile.ByHand:
			row.State = "behind belay, by hand"
		}
		rows = append(rows, row)
	}
	return rows
}
