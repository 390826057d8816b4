// Package shim is belay shim, and the call of a CLI in whose place belay was started. The links are made by internal/shim.
package shim

import (
	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
)

// New makes belay shim.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "shim COMMAND",
		Short: "Put belay in front of agent CLIs, for every caller",
		Example: `Link claude, codex and the other agents to belay:
  belay shim install
Show what each name reaches, and what SDKs have to be told:
  belay shim status
Remove the links:
  belay shim remove`,
		Long: `Keeps a directory of links for the front of the PATH. Each is named after a CLI and leads to belay. A script, an editor or an SDK that runs 'claude -p' or
'codex exec' then goes through belay run, with --exit-code child --quiet. So do the conversations that SDKs hold.

All else becomes the real CLI at once: interactive use, unknown flags, and commands like login, update or mcp. So does everything when belay cannot work. With
belay removed, the links lead nowhere, and shells find the real CLI.

BELAY_SHIM=off in the environment turns the links off.`,
		Args: command.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newShimInstall(), newShimRemove(), newShimStatus())
	return cmd
}
