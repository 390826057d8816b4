package belay

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command/attach"
	"github.com/belay-run/belay/internal/command/batch"
	"github.com/belay-run/belay/internal/command/budget"
	"github.com/belay-run/belay/internal/command/config"
	"github.com/belay-run/belay/internal/command/doctor"
	"github.com/belay-run/belay/internal/command/explain"
	"github.com/belay-run/belay/internal/command/gates"
	"github.com/belay-run/belay/internal/command/hook"
	"github.com/belay-run/belay/internal/command/limits"
	"github.com/belay-run/belay/internal/command/mcp"
	"github.com/belay-run/belay/internal/command/prices"
	"github.com/belay-run/belay/internal/command/profile"
	"github.com/belay-run/belay/internal/command/ps"
	"github.com/belay-run/belay/internal/command/run"
	"github.com/belay-run/belay/internal/command/shim"
	"github.com/belay-run/belay/internal/command/trees"
	"github.com/belay-run/belay/internal/command/uninstallall"
	"github.com/belay-run/belay/internal/stdio"
)

// row is a command that belay links.
type row struct {
	name string
	new  func() *cobra.Command
	// quick does a call with plain arguments, without the tree of commands, which costs a tenth of a whole `belay run -- true`. Of all else ok is false.
	quick func(ctx context.Context, std stdio.Streams, args []string) (err error, ok bool)
	// trouble is the exit code of a call that fails for a reason of belay's own; nil if that is the one of all commands.
	trouble func(args []string) int
}

// table are the commands that belay links, apart from those that belayd carries out, which are in the table of package belayd. A new command is a folder
// beside this one, and a row here.
var table = []row{
	{name: "run", new: run.New, quick: run.Quick},
	{name: "batch", new: batch.New},
	{name: "explain", new: explain.New},
	{name: "ps", new: ps.New},
	{name: "attach", new: attach.New},
	{name: "cancel", new: ps.NewCancel},
	{name: "gates", new: gates.New},
	{name: "limits", new: limits.New},
	{name: "budget", new: budget.New},
	{name: "prices", new: prices.New},
	{name: "config", new: config.New},
	{name: "profile", new: profile.New},
	{name: "doctor", new: doctor.New},
	{name: "mcp", new: mcp.New},
	{name: "hook", new: hook.New, quick: hook.Quick, trouble: hook.Trouble},
	{name: "shim", new: shim.New},
	{name: "trees", new: trees.New},
	{name: "uninstall-all", new: uninstallall.New},
}

// rowOf is the row of the command that is called; an empty one if there is none.
func rowOf(args []string) (none row) {
	for _, r := range table {
		if len(args) > 0 && r.name == args[0] {
			return r
		}
	}
	return none
}

// codeOf is the exit code of a call that has failed for a reason of belay's own, which is code for most commands.
func (r row) codeOf(code int, args []string) int {
	if r.trouble == nil {
		return code
	}
	return r.trouble(args)
}
