package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/hook/settings"
	"github.com/belay-run/belay/internal/term"
)

func newHookStatus() *cobra.Command {
	p, asJSON := &hookPlace{}, false
	cmd := &cobra.Command{
		Use:     "status [--client claude|codex]",
		Short:   "Show the hooks of the settings files, and which are behind belay",
		Example: "  belay hook status\n  belay hook status --client claude --scope project --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return showHooks(cmd.OutOrStdout(), *p, asJSON)
		},
	}
	p.flags(cmd, "")
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, one object a line")
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
}

func showHooks(w io.Writer, p hookPlace, asJSON bool) error {
	if p.client != "" || p.scope != "" {
		check := p
		if check.scope == "" {
			check.scope = "user"
		}
		if check.client == "" {
			check.client = settings.Claude.Name
		}
		if _, _, err := check.find(); err != nil {
			return err
		}
	}
	rows, troubles := listHooks(p)
	if asJSON {
		if err := writeJSONLines(w, rows); err != nil {
			return err
		}
		return troubles
	}
	if len(rows) == 0 {
		fmt.Fprintln(w, "No hooks.")
		return troubles
	}
	var cells [][]string
	for _, r := range rows {
		cells = append(cells, []string{r.Client, r.Scope, r.Event, r.Matcher, r.Belay, fmt.Sprintf("%.100s", r.Command)})
	}
	return errors.Join(term.Table(w, []string{"CLIENT", "SCOPE", "EVENT", "MATCHER", "BELAY", "COMMAND"}, cells), troubles)
}

// listHooks reads all files that are meant. One that cannot be read does not hide the others.
func listHooks(p hookPlace) (rows []hookRow, troubles error) {
	for _, client := range settings.Clients {
		if p.client != "" && p.client != client.Name {
			continue
		}
		for _, scope := range []settings.Scope{settings.User, settings.Project, settings.Local} {
			path, err := client.Path(scope)
			if err != nil || p.scope != "" && p.scope != string(scope) {
				continue
			}
			file, err := settings.Read(client, "", path) // as the client does, which follows links
			if err != nil {
				if !errors.Is(err, os.ErrNotExist) {
					troubles = errors.Join(troubles, &failure{err})
				}
				continue
			}
			for _, h := range file.Hooks {
				row := hookRow{Client: client.Name, Scope: string(scope), Path: path, Line: h.Line, Event: h.Event, Matcher: h.Matcher,
					Type: h.Type, Command: h.Command, Belay: "no"}
				switch {
				case h.Exactly:
					row.Belay = "installed"
				case h.Wrapped:
					row.Belay = "by hand"
				case h.Why != "":
					row.Belay = "no: it " + h.Why
				}
				rows = append(rows, row)
			}
		}
	}
	return rows, troubles
}
