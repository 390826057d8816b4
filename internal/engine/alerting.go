package engine

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
)

// count counts a failed invocation among those of its integration, and raises an alert if they have become too many. A command
// that nothing more was asked for than to be run may well end with 1: grep does that all day.
func (inv *Invocation) count(r *Result, started bool) {
	known := inv.talk != nil || inv.calls != nil || inv.mayRepeat()
	if inv.state == nil || !known || r.Success || inv.runner.Alert.Off() || !alert.Counts(string(r.Verdict.Class), started) {
		return
	}
	store := alert.Files{Dir: filepath.Join(inv.state.Dir, "alerts")}
	integration := journal.Integration(inv.profile.Name(), inv.command.name())
	raised, err := store.Failed(integration, inv.runner.Alert, time.Now())
	if err != nil {
		inv.trouble(err)
	}
	if raised == nil {
		return
	}
	inv.observe(AlertRaised{Integration: integration, Failures: raised.Failures, Within: raised.Within, Last: r.Err})
	detail, _ := json.Marshal(map[string]any{"failures": raised.Failures, "within_s": raised.Within.Seconds()})
	log := journal.Log{Path: inv.state.LogPath()}
	err = log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised", Profile: integration,
		Invocation: inv.id, Status: journal.Success, Error: r.Err, Detail: detail})
	if err != nil {
		inv.trouble(err)
	}
}
