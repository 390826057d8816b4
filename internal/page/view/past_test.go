package view

import (
	"encoding/json"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// The story of a run has the check of each round, and what was spent has columns for how runs were checked only if some were.
func TestChecks(t *testing.T) {
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	db, err := record.Open(st.Dir)
	must.OK(t, err)
	defer db.Close()
	s := &Source{State: st, DB: db}
	attempt := func(run string, n int, class verdict.Class, status journal.Status, check *journal.Check) {
		must.OK(t, (&journal.Log{Path: filepath.Join(st.Dir, "log.jsonl")}).Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: run, Profile: "claude", Command: "claude",
			Attempt: n, Status: status, ErrorType: class, ResponseTime: 1, Check: check, Usage: json.RawMessage(`{"input_tokens":10,"total_cost_usd":0.25}`)}))
	}
	told := func(v any, err error) string {
		t.Helper()
		must.OK(t, err)
		data, err := json.Marshal(v)
		must.OK(t, err)
		return string(data)
	}
	attempt("plain", 1, "", journal.Success, nil)
	must.OK(t, s.Fold(t.Context()))
	if got := told(s.Spend(t.Context(), nil)); !strings.Contains(got, `"columns":[{"name":"attempts","heading":"Attempts"}]`) {
		t.Errorf("without checks: %s", got)
	}
	if got := told(s.Story(t.Context(), url.Values{"id": {"plain"}})); strings.Contains(got, `"check"`) {
		t.Errorf("without a check: %s", got)
	}
	attempt("checked", 1, verdict.NotDone, journal.Retry, &journal.Check{ExitCode: 2, Time: 3.5})
	attempt("checked", 2, "", journal.Success, &journal.Check{Round: 1, Passed: true, Time: 4})
	attempt("nothing to do", 0, "", journal.Success, &journal.Check{Passed: true, Time: 4})
	must.OK(t, s.Fold(t.Context()))
	if got := told(s.Spend(t.Context(), nil)); !strings.Contains(got, `"columns":[{"name":"attempts","heading":"Attempts"},{"name":"done_first","heading":"Done at the first try"},{"name":"done_later","heading":"After feedback"},{"name":"not_done","heading":"Not done"}]`) {
		t.Errorf("with checks: %s", got)
	}
	if v, err := s.Spend(t.Context(), nil); err != nil || v.Total.Lost != 0 || *v.Total.Cost != 1 {
		t.Errorf("what the session goes on from is lost: %+v, %v", v.Total, err)
	}
	for _, want := range []string{`"check":{"round":0,"passed":false,"exit_code":2,"time":3.5}`, `"check":{"round":1,"passed":true,"exit_code":0,"time":4}`, `"total_cost_usd":0.25`} {
		if got := told(s.Story(t.Context(), url.Values{"id": {"checked"}})); !strings.Contains(got, want) {
			t.Errorf("no %s in %s", want, got)
		}
	}
	health, err := s.Health(t.Context(), nil)
	if must.OK(t, err); health.Total.Runs != 3 || health.Total.Refused != 0 {
		t.Errorf("%+v", health.Total)
	}
}
