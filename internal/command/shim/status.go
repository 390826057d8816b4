package shim

import (
	"fmt"
	"io"
	"sync"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/doctor"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/shim"
	"github.com/belay-run/belay/internal/term"
)

var shimTable = []term.Column{{Heading: "COMMAND", Kind: term.Whole}, {Heading: "STATE", Min: 16}, {Heading: "REAL CLI", Kind: term.Note}}

func newShimStatus() *cobra.Command {
	var t shimTarget
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show what the names of the CLIs reach, and what SDKs need",
		Example: `Show it:
  belay shim status
For a script, one CLI a line:
  belay shim status --json`,
		Long: `Shows for each CLI whether its name on the PATH reaches belay, and if not why, where the real CLI is, and its version. SDKs start a CLI of their own, wherever
the PATH leads: the status says which option of theirs names another, with the path of the link.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return showShims(cmd.OutOrStdout(), &t, asJSON) },
	}
	t.flags(cmd)
	cmd.ValidArgsFunction = nil
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one CLI per line")
	return cmd
}

// shimRow is a line of `belay shim status`.
type shimRow struct {
	Name    string     `json:"name"`
	Link    string     `json:"link"`
	State   shim.State `json:"state"`
	Reached bool       `json:"through_belay"`
	First   string     `json:"first,omitempty"` // what the name reaches
	Real    string     `json:"real,omitempty"`
	Version string     `json:"version,omitempty"`
	Error   string     `json:"error,omitempty"` // why the real CLI has no version
	SDKs    []shimSDK  `json:"sdks,omitempty"`
	// Background says whether what it starts in the background goes through belay; nil where that cannot be.
	Background *bool `json:"background_through_belay,omitempty"`
}

// shimSDK is what an SDK has to be told.
type shimSDK struct {
	Name    string `json:"name"`
	Setting string `json:"setting"`
}

func showShims(w io.Writer, t *shimTarget, asJSON bool) error {
	dir, err := t.directory()
	if err != nil {
		return err
	}
	all := profile.Known()
	rows := make([]shimRow, len(all))
	var asked sync.WaitGroup
	for i, d := range all {
		asked.Go(func() { rows[i] = lookAtShim(dir, d) })
	}
	asked.Wait()
	var shown []shimRow
	for i, r := range rows {
		if all[i].IsAgent() || r.State != shim.None {
			shown = append(shown, r)
		}
	}
	if asJSON {
		return term.JSONLines(w, shown)
	}
	var cells [][]term.Piece
	for _, r := range shown {
		real, style := message.CLIMissing(), term.Warning
		if r.Reached && r.Real != "" {
			style = term.Good
		}
		switch {
		case r.Error != "":
			real = r.Error
		case r.Real != "":
			real = message.CLIVersion(term.Tilde(r.Real), r.Version, "")
		}
		cells = append(cells, term.Cells(r.Name, term.Styled(style, message.ShimState(string(r.State), r.Reached, r.Real != "", term.Tilde(r.First))), real))
	}
	if err := term.Table(w, shimTable, cells); err != nil {
		return err
	}
	for _, r := range shown {
		switch {
		case r.Background == nil || r.State != shim.Linked:
		case *r.Background:
			term.Line(w, fmt.Sprintf("What %s runs in the background goes through belay, too.", r.Name))
		default:
			term.Line(w, fmt.Sprintf("What %s runs in the background does not go through belay: belay shim install %s", r.Name, r.Name))
		}
	}
	var settings [][2]string
	for _, r := range shown {
		for _, s := range r.SDKs {
			settings = append(settings, [2]string{s.Name, s.Setting})
		}
	}
	if len(settings) == 0 {
		return nil
	}
	term.Line(w, "SDKs start a CLI of their own. To have them start the link, set:")
	for _, s := range settings {
		term.Printf(w, "  %-32s %s\n", s[0], s[1])
	}
	return nil
}

// lookAtShim looks at the link of a CLI, and at the CLI behind it.
func lookAtShim(dir string, d *agent.Descriptor) shimRow {
	l := shim.Look(dir, d.Name)
	r := shimRow{Name: d.Name, Link: l.Path, State: l.State}
	r.First, r.Reached = shim.First(d.Name)
	if found, err := shim.Find(d.Name); err == nil {
		r.Real = found.Path
		if r.Version, err = doctor.Version(found.Path); err != nil {
			r.Error = message.CLISilent(term.Tilde(found.Path), err)
		}
	}
	if l.State == shim.Linked {
		for _, s := range d.SDKs {
			r.SDKs = append(r.SDKs, shimSDK{s.Name, fmt.Sprintf(s.Setting, l.Path)})
		}
	}
	if d.Client != nil && d.Client.Launcher != "" {
		_, launched, _ := d.Client.SetLauncher("", true)
		r.Background = &launched
	}
	return r
}
