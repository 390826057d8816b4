//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay"
	"github.com/belay-run/belay/gh"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// audited is a row of belay audit --json.
type audited struct {
	Actor       string         `json:"actor"`
	Action      string         `json:"action"`
	Subject     string         `json:"subject"`
	Invocation  string         `json:"invocation"`
	Session     string         `json:"session_id"`
	Type        string         `json:"type"`
	Message     string         `json:"message"`
	IsRetryable bool           `json:"is_retryable"`
	Category    string         `json:"category"`
	Severity    string         `json:"severity"`
	Detail      map[string]any `json:"detail"`
}

// asked are the rows that a question of belay's is answered with.
func asked[T any](r *run, args ...string) (rows []T) {
	r.t.Helper()
	out, err := r.command("belay-plain", append(args, "--json")...).Output()
	if err != nil {
		r.t.Fatalf("belay %s: %v: %s", strings.Join(args, " "), err, out)
	}
	for line := range strings.Lines(string(out)) {
		var row T
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
		rows = append(rows, row)
	}
	return rows
}

type sessionRow struct {
	Profile string `json:"profile"`
	ID      string `json:"id"`
	Status  string `json:"status"`
	Error   string `json:"error_message"`
	Runs    int    `json:"invocations"`
}

const someSession = "3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"

// Seed 001's error handler: whatever error a program has met in a session, the session is failed with its message, and the
// audit trail has the error with its kind and its context.
func TestHandled_AnyError(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	state := r.openState()
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz"
	for n, tt := range []struct {
		err     error
		session belay.Session
		context map[string]any
		want    audited
		detail  string
		status  string
	}{
		{fmt.Errorf("connect: %w", syscall.ECONNRESET), belay.Session{Profile: "claude", ID: someSession}, map[string]any{"step": "review", "ticket": 42},
			audited{Subject: "claude", Session: someSession, Type: "network", Message: "connect: connection reset by peer", IsRetryable: true, Category: "connection", Severity: "warning"},
			`{"step":"review","ticket":42}`, "failed"},
		{errors.New("Invalid API key " + key), belay.Session{Profile: "codex", ID: "not a uuid"}, map[string]any{"prompt": "the secret plan", "header": "Authorization: Bearer " + key},
			audited{Subject: "codex", Session: "not a uuid", Type: "unknown", Message: "Invalid API key [redacted]", Category: "unknown", Severity: "error"},
			`{"header":"Authorization: [redacted]","prompt":{"bytes":15,"sha256":"21c18b3594874cf56af31a1031c7c1bee1ccd0f5c08e33667089cd0bf0efc9de"}}`, "failed"},
		{context.DeadlineExceeded, belay.Session{Profile: "claude", ID: "s3"}, nil,
			audited{Subject: "claude", Session: "s3", Type: "timeout", Message: "context deadline exceeded", Category: "connection", Severity: "error"},
			`null`, "failed"},
		{context.Canceled, belay.Session{Profile: "claude", ID: "s4"}, map[string]any{"by": "user"},
			audited{Subject: "claude", Session: "s4", Type: "interrupted", Message: "context canceled", Category: "unknown", Severity: "error"},
			`{"by":"user"}`, "interrupted"},
		{errors.New("no session"), belay.Session{}, map[string]any{"long": strings.Repeat("x", 9000)},
			audited{Subject: filepath.Base(os.Args[0]), Type: "unknown", Message: "no session", Category: "unknown", Severity: "error"},
			`{"long":"` + strings.Repeat("x", 500) + `…"}`, ""},
	} {
		got, err := state.HandleError(tt.err, tt.session, tt.context)
		if err != nil || got.Message != tt.err.Error() || string(got.Type) != tt.want.Type || got.IsRetryable != tt.want.IsRetryable {
			t.Errorf("%d: %+v, %v", n, got, err)
		}
		rows := asked[audited](r, "audit", "--action", "failure")
		if len(rows) != n+1 {
			t.Fatalf("%d: %d rows", n, len(rows))
		}
		row := rows[n]
		detail, _ := json.Marshal(row.Detail)
		row.Detail = nil
		tt.want.Actor, tt.want.Action = filepath.Base(os.Args[0]), "failure"
		if fmt.Sprint(row) != fmt.Sprint(tt.want) {
			t.Errorf("%d: %+v\nwant %+v", n, row, tt.want)
		}
		if string(detail) != tt.detail {
			t.Errorf("%d: %s\nwant %s", n, detail, tt.detail)
		}
		if tt.status == "" {
			continue
		}
		if list := asked[sessionRow](r, "sessions", tt.session.ID); len(list) != 1 || list[0] != (sessionRow{tt.session.Profile, tt.session.ID, tt.status, tt.want.Message, 0}) {
			t.Errorf("%d: sessions %+v", n, list)
		}
	}
	// All but the cancel are events.
	type event struct{ Metadata map[string]any }
	var events []string
	for _, e := range asked[event](r, "events", "--category", "integration") {
		events = append(events, fmt.Sprintf("%v of %v", e.Metadata["error_type"], e.Metadata["integration"]))
	}
	if got, want := strings.Join(events, ", "), "network of claude, unknown of codex, timeout of claude, unknown of "+filepath.Base(os.Args[0]); got != want {
		t.Errorf("events: %s\nwant %s", got, want)
	}
	if list := asked[sessionRow](r, "sessions", "--status", "failed"); len(list) != 3 {
		t.Errorf("failed sessions: %+v", list)
	}
	if rows := asked[audited](r, "audit", "--session", someSession); len(rows) != 1 {
		t.Errorf("of the session: %+v", rows)
	}
	out, err := r.command("belay-plain", "audit").Output()
	if err != nil || !strings.Contains(string(out), "CONTEXT") || !strings.Contains(string(out), "step=review ticket=42") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := r.command("grep", "-r", "-e", "secret plan", "-e", "abcdefghijklmnop", "state").Output(); err == nil {
		t.Errorf("at rest: %s", out)
	}
	if _, err := state.HandleError(nil, belay.Session{ID: someSession}, nil); err != nil || len(asked[audited](r, "audit")) != 5 {
		t.Errorf("no error was handled: %v", err)
	}
}

// The error of a run is on record already: it gets the context, and is there once. What comes after it holds.
func TestHandled_ErrorOfARun(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	state := r.openState()
	runner := belay.Runner{State: state}
	for n, script := range []string{"echo connection reset >&2; exit 1", "exit 3", "kill -SEGV $$"} {
		res, err := runner.Run(t.Context(), belay.Command{Args: []string{"sh", "-c", script}})
		if n == 1 {
			err = fmt.Errorf("deploy: %w", err)
		}
		c, herr := state.HandleError(err, belay.Session{Profile: "generic", ID: someSession}, map[string]any{"n": n})
		if herr != nil || c.Type != res.Verdict.Class || c.IsRetryable != res.Verdict.Retryable {
			t.Errorf("%d: %+v, %v", n, c, herr)
		}
		if n == 2 {
			state.HandleError(err, belay.Session{Profile: "generic", ID: someSession}, map[string]any{"again": true})
		}
		rows := asked[audited](r, "audit")
		if len(rows) != n+1 || rows[n].Invocation != res.ID || fmt.Sprint(rows[n].Detail) != fmt.Sprintf("map[n:%d]", n) || rows[n].Session != someSession {
			t.Errorf("%d: %+v", n, rows)
		}
		if list := asked[sessionRow](r, "sessions"); len(list) != 1 || list[0].Status != "failed" || list[0].Runs != 0 {
			t.Errorf("%d: %+v", n, list)
		}
	}
	// A log that is read again from its beginning changes nothing.
	log := filepath.Join(state.Dir, "log.jsonl")
	data, err := os.ReadFile(log)
	if err == nil {
		err = os.WriteFile(log, append([]byte("\n"), data...), 0o600)
	}
	must.OK(t, err)
	if rows := asked[audited](r, "audit"); len(rows) != 3 {
		t.Errorf("%+v", rows)
	}
	if events := asked[map[string]any](r, "events"); len(events) != 3 {
		t.Errorf("the errors of three runs are the events %v", events)
	}
}

// A session that is handled as failed and then goes on is what its last run says, in whichever order the lines are folded.
func TestHandled_SessionGoesOn(t *testing.T) {
	t.Parallel()
	for name, foldBetween := range map[string]bool{"AtOnce": false, "OneByOne": true} {
		t.Run(name, func(t *testing.T) {
			r := newRun(t, 0)
			state := r.openState()
			r.write("claude", `#!/bin/sh
id='"session_id":"`+someSession+`"'
echo "{\"type\":\"system\",\"subtype\":\"init\",$id}"
echo "{\"type\":\"assistant\",\"message\":{\"id\":\"m1\",\"model\":\"m\",\"content\":[]},$id}"
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"the answer\",$id}"
`)
			check := func(status string, runs int) {
				t.Helper()
				if list := asked[sessionRow](r, "sessions"); len(list) != 1 || list[0].Status != status || list[0].Runs != runs {
					t.Errorf("%+v, want %s after %d runs", list, status, runs)
				}
			}
			claude := func() {
				ask := belay.Claude("hi")
				ask.Path, ask.Dir, ask.Runner = filepath.Join(r.dir, "claude"), r.dir, belay.Runner{State: state, LogDir: belay.NoLogDir}
				res, err := ask.Run(t.Context())
				if err != nil || res.Session != someSession {
					t.Fatalf("%+v, %v", res, err)
				}
			}
			claude()
			if _, err := state.HandleError(errors.New("the answer is of no use"), belay.Session{Profile: "claude", ID: someSession}, nil); err != nil {
				t.Fatal(err)
			}
			if got, _ := state.Session("claude", someSession); got.Status != "failed" {
				t.Errorf("its file says %+v", got)
			}
			if foldBetween {
				check("failed", 1)
			}
			claude()
			check("done", 2)
			if _, err := state.HandleError(&belay.Error{Verdict: verdict.Verdict{Class: verdict.RateLimit, Retryable: true}, Message: "429"},
				belay.Session{Profile: "claude", ID: someSession}, nil); err != nil {
				t.Fatal(err)
			}
			check("failed", 2)
		})
	}
}

// An error of gh.Client, and one in a state directory that is not there any more.
func TestHandled_Edges(t *testing.T) {
	t.Parallel()
	r := newRun(t, 0)
	state := r.openState()
	r.write("gh", "#!/bin/sh\necho 'gh: Not Found (HTTP 404)' >&2\nexit 1\n")
	client := &gh.Client{Runner: belay.Runner{State: state}, Path: filepath.Join(r.dir, "gh")}
	_, err := client.Run(t.Context(), []string{"issue", "view", "1"}, true)
	c, herr := state.HandleError(err, belay.Session{Profile: "gh"}, map[string]any{"issue": 1, "at": time.Unix(0, 0).UTC()})
	if herr != nil || c.Type != verdict.NotFound || c.Category != "sdk" || c.Severity != "error" {
		t.Errorf("%+v, %v", c, herr)
	}
	if rows := asked[audited](r, "audit", "--class", "not_found"); len(rows) != 1 || fmt.Sprint(rows[0].Detail) != "map[at:1970-01-01T00:00:00Z issue:1]" {
		t.Errorf("%+v", rows)
	}
	must.OK(t, os.RemoveAll(state.Dir))
	if c, herr := state.HandleError(syscall.EPIPE, belay.Session{Profile: "../../etc", ID: someSession}, nil); herr == nil || c.Type != verdict.Network {
		t.Errorf("without a state directory: %+v, %v", c, herr)
	}
}

// openState is the state directory of the run's commands.
func (r *run) openState() *belay.State {
	r.t.Helper()
	state, err := belay.OpenState(filepath.Join(r.dir, "state"))
	must.OK(r.t, err)
	return state
}

// write makes a script.
func (r *run) write(name, text string) {
	r.t.Helper()
	must.OK(r.t, built.WriteFile(filepath.Join(r.dir, name), []byte(text)))
}
