//go:build !norecord

package companion

import (
	"context"
	"maps"

	"github.com/belay-run/belay/internal/belayd"
)

// The commands that need the database are left out by the build tag norecord: make demo does without them, because SQLite takes longer to
// compile than all the rest.
func init() {
	maps.Copy(commands, map[string]func(context.Context, caller, *arguments) (int, error){
		belayd.Fold: foldCommand, belayd.CheckDatabase: checkDatabaseCommand,
		"log": logCommand, "stats": statsCommand, "events": eventsCommand, "sessions": sessionsCommand, "alerts": alertsCommand,
		"audit": auditCommand, "prune": pruneCommand, belayd.UI: uiCommand, "metrics": metricsCommand, "report": reportCommand, "top": topCommand, belayd.Telemetry: telemetryCommand,
	})
	maps.Copy(commands, fleetCommands)
}
