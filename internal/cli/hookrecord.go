package cli

import (
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// recordHook puts a failure into the log, and raises an alert if there have been too many of that hook. Nothing of the state
// directory is touched before there is a failure.
func recordHook(w io.Writer, e journal.Entry) error {
	state, err := state.Open("")
	if err != nil {
		return err
	}
	log := journal.Log{Path: state.LogPath()}
	err = log.Append(e)
	if !alert.Counts(string(e.ErrorType), true) {
		return err
	}
	var alerts alert.Config
	if s, _, cerr := config.Load(config.Given{}, e.Profile); cerr == nil {
		alerts = s.Alerts
	}
	store := alert.Files{Dir: filepath.Join(state.Dir, "alerts")}
	raised, aerr := store.Failed(e.Profile, alerts.For(e.Profile), time.Now())
	if raised == nil {
		return errors.Join(err, aerr)
	}
	span := term.Span(raised.Within)
	term.Printf(w, "belay hook: alert: %d failures of %s within %s; see: belay events --since %s\n", raised.Failures, e.Profile, span, span)
	detail, _ := json.Marshal(map[string]any{"failures": raised.Failures, "within_s": raised.Within.Seconds()})
	aerr = log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Kind: journal.Alert, Event: "raised", Profile: e.Profile,
		Status: journal.Success, Error: e.Error, Detail: detail})
	foldLog() // an alert has to be sent; failures alone are folded when a user asks
	return errors.Join(err, aerr)
}
