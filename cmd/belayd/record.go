//go:build !norecord

package main

import (
	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/alerts"
	"github.com/belay-run/belay/internal/command/audit"
	"github.com/belay-run/belay/internal/command/checkdatabase"
	"github.com/belay-run/belay/internal/command/events"
	"github.com/belay-run/belay/internal/command/fleet"
	"github.com/belay-run/belay/internal/command/fold"
	"github.com/belay-run/belay/internal/command/log"
	"github.com/belay-run/belay/internal/command/metrics"
	"github.com/belay-run/belay/internal/command/prune"
	"github.com/belay-run/belay/internal/command/report"
	"github.com/belay-run/belay/internal/command/sessions"
	"github.com/belay-run/belay/internal/command/stats"
	"github.com/belay-run/belay/internal/command/telemetry"
	"github.com/belay-run/belay/internal/command/top"
	"github.com/belay-run/belay/internal/command/ui"
)

// ofRecord are the commands that need the database. The build tag norecord leaves them out: make demo does without them, because SQLite takes
// longer to compile than all the rest.
var ofRecord = map[string]request.Func{
	"alerts":              alerts.Run,
	"audit":               audit.Run,
	belayd.CheckDatabase:  checkdatabase.Run,
	belayd.Courier:        fleet.Courier,
	"events":              events.Run,
	"fleet drain":         fleet.Drain,
	"fleet init":          fleet.Init,
	"fleet join":          fleet.Join,
	belayd.FleetKeyAdd:    fleet.KeyAdd,
	belayd.FleetKeyList:   fleet.KeyList,
	belayd.FleetKeyRemove: fleet.KeyRemove,
	"fleet remove":        fleet.Remove,
	"fleet status":        fleet.Status,
	belayd.FleetBudget:    fleet.Budget,
	belayd.FleetGates:     fleet.Gates,
	belayd.FleetPs:        fleet.Ps,
	belayd.Fold:           fold.Run,
	"log":                 log.Run,
	"metrics":             metrics.Run,
	"prune":               prune.Run,
	"report":              report.Run,
	"sessions":            sessions.Run,
	"sessions check":      sessions.Check,
	"sessions repair":     sessions.Repair,
	"sessions show":       sessions.Show,
	"stats":               stats.Run,
	belayd.Telemetry:      telemetry.Run,
	"top":                 top.Run,
	belayd.UI:             ui.Run,
}
