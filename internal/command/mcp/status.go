package mcp

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/clientfile"
	"github.com/belay-run/belay/internal/clientfile/target"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// serverTable has the generation for programs that read it: on a terminal the restarts say as much.
var serverTable = []term.Column{{Heading: "SERVER", Kind: term.Path}, {Heading: "PID", Kind: term.Number, Drop: 1}, {Heading: "UPTIME", Kind: term.Number},
	{Heading: "GENERATION", Kind: term.Number, Redundant: func([]string) bool { return true }}, {Heading: "RESTARTS", Kind: term.Number}, {Heading: "MEMORY", Drop: 2}, {Heading: "LAST FAILURE", Kind: term.Note}}

// mcpServer is a line of `belay mcp status`.
type mcpServer struct {
	Name        string    `json:"name"`
	PID         int       `json:"pid"`
	Since       time.Time `json:"since"`
	Generation  int       `json:"generation"`
	Restarts    int       `json:"restarts"`
	LastFailure string    `json:"last_failure,omitempty"`
	FailedAt    time.Time `json:"failed_at,omitzero"`
	Memory      int64     `json:"memory_bytes,omitempty"` // where it has a limit, as has the next
	PeakMemory  int64     `json:"peak_memory_bytes,omitempty"`
}

func newMCPStatus() *cobra.Command {
	var asJSON bool
	t := &target.Target{Kind: clientfile.Servers}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the MCP servers that run through belay, or a client's",
		Example: `Show the servers that are running:
  belay mcp status
Show which servers of a client go through belay:
  belay mcp status --client claude
Show those of one scope:
  belay mcp status --client claude --scope local`,
		Long: `Shows the servers that are running through belay now, how often each was restarted (its generation), and why the last one failed. With --client
it shows the servers in that client's configuration, of all scopes or of one, which of them go through belay, and which files were read.`,
		Args: command.NoArgs,
	}
	t.AddFlags(cmd, "", false)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if t.Client != "" || t.Scope != "" {
			return showServers(cmd.OutOrStdout(), t, asJSON)
		}
		servers, err := mcpServers()
		if err != nil {
			return err
		}
		w := cmd.OutOrStdout()
		if asJSON {
			return term.JSONLines(w, servers)
		}
		if len(servers) == 0 {
			term.Line(w, "no MCP server is running behind belay")
			return nil
		}
		var rows [][]term.Piece
		for _, s := range servers {
			last := "–"
			if s.LastFailure != "" {
				last = fmt.Sprintf("%s ago: %s", printable.Span(time.Since(s.FailedAt)), s.LastFailure)
			}
			memory := ""
			if s.Memory > 0 {
				memory = fmt.Sprintf("%s, peak %s", term.Size(s.Memory), term.Size(s.PeakMemory))
			}
			rows = append(rows, term.Cells(s.Name, s.PID, term.Span(time.Since(s.Since)), s.Generation, s.Restarts, memory, last))
		}
		return term.Table(w, serverTable, rows)
	}
	return cmd
}

// mcpServers are the servers of all living proxies that share this state directory.
func mcpServers() ([]mcpServer, error) {
	runs, err := command.RunsNow()
	if err != nil {
		return nil, err
	}
	var servers []mcpServer
	for _, r := range runs {
		name, ok := strings.CutPrefix(r.Profile, "mcp:")
		if !ok {
			continue
		}
		servers = append(servers, mcpServer{Name: name, PID: r.Owner.PID, Since: r.Started, Generation: r.Attempt, Restarts: max(0, r.Attempt-1),
			LastFailure: r.Reason, FailedAt: r.Until, Memory: r.Memory, PeakMemory: r.PeakMemory})
	}
	return servers, nil
}
