package hook

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/term"
)

var hookTable = []term.Column{{Heading: "CLIENT", Kind: term.Whole}, {Heading: "SCOPE", Kind: term.Whole}, {Heading: "EVENT", Kind: term.Whole}, {Heading: "MATCHER", Kind: term.Path},
	{Heading: "BELAY", Min: 12}, {Heading: "COMMAND", Kind: term.Note}}

func newHookStatus() *cobra.Command {
	t, asJSON := &target.Target{Kind: clientfile.Hooks}, false
	cmd := &cobra.Command{
		Use:   "status [--client NAME]",
		Short: "Show the hooks of clients, and which go through belay",
		Example: `Show the hooks of all clients:
  belay hook status
Show those of one client and scope:
  belay hook status --client claude --scope project`,
		Long: "Shows the hooks of all clients and scopes, or of those that you name, whether they go through belay, and which files were read.",
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showHooks(cmd.OutOrStdout(), t, asJSON)
		},
	}
	t.AddFlags(cmd, "", false)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// hookRow is one hook of a settings file.
type hookRow struct {
	Client  string `json:"client"`
	Scope   string `json:"scope"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Event   string `json:"event"`
	Matcher string `json:"matcher,omitempty"`
	Type    string `json:"type"`
	Command string `json:"command,omitempty"`
	Belay   string `json:"belay"` // installed, by hand, no, or why not
	// Missing is the belay that the hook calls, if that cannot be found.
	Missing string `json:"missing,omitempty"`

	style term.Style // of Belay
}

func showHooks(w io.Writer, t *target.Target, asJSON bool) error {
	if t.Client != "" || t.Scope != "" {
		check := *t
		check.Client = cmp.Or(t.Client, profile.ClientNames(clientfile.Hooks)[0])
		if _, err := check.Location(); err != nil {
			return err
		}
	}
	looks, err := t.Look()
	if err != nil {
		return err
	}
	var rows []hookRow
	var troubles error
	for _, l := range looks {
		rows = append(rows, hookRows(l)...)
		if l.Err != nil {
			troubles = errors.Join(troubles, command.Fail(l.Err))
		}
	}
	if asJSON {
		return errors.Join(term.JSONLines(w, rows), troubles)
	}
	if len(rows) == 0 {
		term.Line(w, "No hooks.")
	} else {
		var cells [][]term.Piece
		for _, r := range rows {
			cells = append(cells, term.Cells(r.Client, r.Scope, r.Event, r.Matcher, term.Styled(r.style, r.Belay), fmt.Sprintf("%.100s", r.Command)))
		}
		if err := term.Table(w, hookTable, cells); err != nil {
			return err
		}
	}
	term.Line(w, "Looked in:")
	for _, l := range looks {
		term.Line(w, fmt.Sprintf("  %s (%s, %s): %s", l.FullPath(), l.Client.Name, string(l.Scope), l.Found()))
	}
	for _, l := range looks {
		if l.File != nil {
			target.SayMissing(w, l.File)
		}
	}
	return troubles
}

// hookRows are the hooks of a file.
func hookRows(l target.Look) (rows []hookRow) {
	if l.File == nil {
		return nil
	}
	for _, e := range l.File.Entries {
		row := hookRow{Client: l.Client.Name, Scope: string(l.Scope), Path: l.Path, Line: e.Line, Event: e.Event, Matcher: e.Matcher,
			Type: e.Type, Command: e.Command, Belay: "no", style: term.Warning}
		if e.State == clientfile.Installed || e.State == clientfile.ByHand {
			row.style = term.Good
		}
		switch e.State {
		case clientfile.Installed:
			row.Belay = "installed"
			if e.Missing() {
				row.Missing = e.Belay
			}
		case clientfile.ByHand:
			row.Belay = "by hand"
		case clientfile.Unfit:
			row.Belay = "no: it " + e.Why
		}
		rows = append(rows, row)
	}
	return rows
}
