package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/stdio"
)

// row is a command that belay links.
type tableRow struct {
	name string
	new  func() *cobra.Command
	// quick does a call with plain arguments, without the tree of commands, which costs a tenth of a whole `belay run -- true`. Of all else ok is false.
	quick func(ctx context.Context, std stdio.Streams, args []string) (err error, ok bool)
	// trouble is the exit code of a call that fails for a reason of belay's own; nil if that is the one of all commands.
	trouble func(args []string) int
}

// table are the commands that belay links, apart from those that belayd carries out, which are in the table of package belayd. A new command is a folder
// beside this one, and a row here.
var table = []tableRow{
	{name: "run", new: makeRun, quick: quick},
	{name: "batch", new: newBatch},
	{name: "explain", new: newExplain},
	{name: "ps", new: newPs},
	{name: "attach", new: newAttach},
	{name: "cancel", new: newCancel},
	{name: "gates", new: newGates},
	{name: "limits", new: newLimits},
	{name: "budget", new: newBudget},
	{name: "prices", new: newPrices},
	{name: "config", new: newConfig},
	{name: "profile", new: newProfile},
	{name: "doctor", new: newDoctor},
	{name: "mcp", new: newMCP},
	{name: "hook", new: makeHook, quick: quickCall, trouble: trouble},
	{name: "shim", new: newShim},
	{name: "uninstall-all", new: newUninstallAll},
}

// rowOf is the row of the command that is called; an empty one if there is none.
func rowOf(args []string) (none tableRow) {
	for _, r := range table {
		if len(args) > 0 && r.name == args[0] {
			return r
		}
	}
	return none
}

// codeOf is the exit code of a call that has failed for a reason of belay's own, which is code for most commands.
func (r tableRow) codeOf(code int, args []string) int {
	if r.trouble == nil {
		return code
	}
	return r.trouble(args)
}
