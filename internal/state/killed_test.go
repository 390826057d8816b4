package state_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/alert"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

const run = "01a1dfb1-a18b-78b2-9007-78e02857aef0"

var began = time.Now().Add(-time.Hour).Truncate(time.Millisecond)

// writeDeadRecord puts a run on record whose owner is dead: its pid was given to another one, or the system restarted since.
func writeDeadRecord(t *testing.T, s *state.State, rec supervise.Record, restarted bool) {
	t.Helper()
	rec.ID, rec.Started = run, began
	made, err := s.CreateRecord(rec)
	must.OK(t, err)
	made.State = rec.State // of a new one it is always the same
	must.OK(t, made.Update())
	paths, _ := filepath.Glob(filepath.Join(s.Records().Dir, "*."+run))
	part := strings.Split(filepath.Base(paths[0]), ".")
	part[2] += "1"
	if restarted {
		part[0] = "f" + part[0]
	}
	must.OK(t, os.Rename(paths[0], filepath.Join(s.Records().Dir, strings.Join(part, "."))))
}

// logged are the lines of the log.
func logged(t *testing.T, s *state.State) (list []journal.Entry) {
	t.Helper()
	f, err := os.Open(s.LogPath())
	if os.IsNotExist(err) {
		return nil
	}
	must.OK(t, err)
	defer f.Close()
	for e := range journal.Read(f, nil) {
		list = append(list, e)
	}
	return list
}

// opened is a state that is ready to be used, with these lines in its log.
func opened(t *testing.T, lines ...journal.Entry) *state.State {
	t.Helper()
	s, err := state.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	log := s.Log(nil)
	for _, e := range lines {
		must.OK(t, log.Append(e))
	}
	return s
}

// A run whose Belay was killed is put on record by the first process that finds it, once.
func TestState_ReportsKilledRuns(t *testing.T) {
	line := func(n int, status journal.Status, wait float64) journal.Entry {
		return journal.Entry{Timestamp: journal.Time{Time: began.Add(time.Duration(n) * time.Minute)}, Invocation: run, Profile: "generic", Command: "tool", Attempt: n, Status: status, WaitTime: wait}
	}
	other := line(1, journal.Error, 0)
	other.Invocation = "another"
	for name, tt := range map[string]struct {
		record    supervise.Record
		restarted bool
		lines     []journal.Entry
		attempt   int // of the new line; -1 if there is none
		gateWait  float64
		text      string
	}{
		"while the command was running":    {record: supervise.Record{Command: "tool", Profile: "generic", State: supervise.StateRunning, Attempt: 1}, lines: []journal.Entry{other}, attempt: 1, text: "belay was killed while tool was running"},
		"in a later attempt":               {record: supervise.Record{Command: "tool", State: supervise.StateRunning, Attempt: 1}, lines: []journal.Entry{line(1, journal.Retry, 0)}, attempt: 2, text: "belay was killed while tool was running"},
		"while it waited for the next":     {record: supervise.Record{Command: "tool", State: supervise.StateWaiting, Attempt: 1, Reason: "tool exited 1"}, lines: []journal.Entry{line(1, journal.Retry, 60)}, gateWait: -60, text: "belay was killed while it waited to run tool: tool exited 1"},
		"while it waited for the first":    {record: supervise.Record{Command: "tool", State: supervise.StateWaiting, Attempt: 1}, text: "belay was killed while it waited to run tool"},
		"with the system":                  {record: supervise.Record{State: supervise.StateRunning}, restarted: true, attempt: 1, text: "belay ended with the system while the command was running"},
		"after its end":                    {record: supervise.Record{Command: "tool", State: supervise.StateRunning, Attempt: 1}, lines: []journal.Entry{line(1, journal.Success, 0)}, attempt: -1},
		"which was an MCP server of a run": {record: supervise.Record{Command: "server", Profile: "mcp:files", State: supervise.StateRunning}, attempt: -1},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, tt.lines...)
			writeDeadRecord(t, s, tt.record, tt.restarted)
			told, left, err := s.ReportKilled()
			if err != nil || len(told) != 1 || len(left) != 0 {
				t.Fatalf("told of %v, left %v: %v", told, left, err)
			}
			log := logged(t, s)[len(tt.lines):]
			if tt.attempt < 0 {
				if len(log) != 0 {
					t.Errorf("on record: %+v", log)
				}
				return
			}
			if len(log) != 1 {
				t.Fatalf("on record: %+v", log)
			}
			if e := log[0]; e.Attempt != tt.attempt || e.Error != tt.text || e.GateWait != tt.gateWait || e.ErrorType != verdict.Interrupted || e.Rule != "killed" || e.Status != journal.Error ||
				e.Invocation != run || e.Profile != "generic" || e.ExitCode != -1 || e.Timestamp.Before(began) {
				t.Errorf("on record: %+v", e)
			}
			if told, left, _ := s.ReportKilled(); len(told)+len(left) != 0 || len(logged(t, s)) != len(tt.lines)+1 {
				t.Error("it is told of twice")
			}
		})
	}
}

// What a killed agent has used is found in its own record, and its session goes on record as interrupted.
func TestState_KilledAgent(t *testing.T) {
	spent := verdict.Usage{InputTokens: 5, OutputTokens: 5}
	earlier := journal.Entry{Timestamp: journal.Time{Time: began.Add(time.Minute)}, Invocation: run, Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Retry, Session: oneSession, Usage: spent.JSON()}
	for name, tt := range map[string]struct {
		session  string // of the run's record
		recorded bool   // the CLI has a record of it
		known    bool   // so has Belay
		tokens   int64  // on the new line
		unknown  bool
		sum      int64 // in the session
	}{
		"with a record of its own":   {session: oneSession, recorded: true, known: true, tokens: 120, sum: 130},
		"with none":                  {session: oneSession, known: true, unknown: true, sum: 10},
		"whose session has no name":  {known: true, unknown: true},
		"whose session is not known": {session: oneSession, recorded: true, tokens: 120},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t, earlier)
			home := t.TempDir()
			if tt.recorded {
				dir := filepath.Join(home, "projects", "-some-dir")
				must.OK(t, os.MkdirAll(dir, 0o700))
				text := fmt.Sprintf(`{"message":{"content":[{"type":"tool_use"}],"id":"m1","model":"opus","role":"assistant","stop_reason":"tool_use","type":"message","usage":{"input_tokens":100,"output_tokens":20}},"type":"assistant","timestamp":%q,"version":"2.1.325"}`+"\n",
					began.Add(10*time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"))
				must.OK(t, os.WriteFile(filepath.Join(dir, oneSession+".jsonl"), []byte(text), 0o600))
			}
			if tt.known {
				must.OK(t, s.SaveSession(state.Session{Profile: "claude", ID: oneSession, Dir: "/a", Status: state.SessionRunning, Updated: began, ToldCost: new(0.5), ToldTokens: 7}))
			}
			writeDeadRecord(t, s, supervise.Record{Command: "claude", Profile: "claude", State: supervise.StateRunning, Attempt: 2, Session: tt.session, Home: home, Since: began.Add(2 * time.Minute)}, false)
			if told, _, err := s.ReportKilled(); err != nil || len(told) != 1 {
				t.Fatalf("%v, %v", told, err)
			}
			e := logged(t, s)[1]
			var used verdict.Usage
			if err := json.Unmarshal(e.Usage, &used); err != nil {
				t.Fatalf("%q: %v", e.Usage, err)
			}
			if used.InputTokens+used.OutputTokens != tt.tokens || used.Unknown != tt.unknown || e.Attempt != 2 || e.Session != tt.session || tt.recorded && (e.Model != "opus" || e.Requests != 1) {
				t.Errorf("on record: %+v, %+v", e, used)
			}
			session := s.Session("claude", oneSession)
			switch {
			case tt.known && tt.session != "" && (session.Status != state.SessionInterrupted || session.Usage.InputTokens+session.Usage.OutputTokens != tt.sum || session.ToldCost != nil || session.Updated.Before(began)):
				t.Errorf("the session: %+v", session)
			case tt.known && tt.session == "" && session.Status != state.SessionRunning:
				t.Errorf("the session: %+v", session)
			case !tt.known && session.ID != "":
				t.Errorf("the session: %+v", session)
			}
		})
	}
}

// A run's earlier lines are found in a log of any size.
func TestState_KilledRunInALargeLog(t *testing.T) {
	first := journal.Entry{Timestamp: journal.Time{Time: began.Add(time.Minute)}, Invocation: run, Profile: "generic", Command: "tool", Attempt: 4, Status: journal.Retry}
	s := opened(t, first)
	f, err := os.OpenFile(s.LogPath(), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	line := fmt.Sprintf(`{"timestamp":%q,"invocation":"another","profile":"generic","command":%q,"attempt":1,"status":"success","exit_code":0,"response_time":1}`+"\n",
		began.Add(2*time.Minute).UTC().Format("2006-01-02T15:04:05.000Z"), strings.Repeat("x", 3000))
	if _, err := f.WriteString(strings.Repeat(line, 500)); err != nil { // 1.5 MB
		t.Fatal(err)
	}
	f.Close()
	writeDeadRecord(t, s, supervise.Record{Command: "tool", State: supervise.StateRunning, Attempt: 1}, false)
	s.ReportKilled()
	log := logged(t, s)
	if last := log[len(log)-1]; last.Invocation != run || last.Attempt != 5 {
		t.Errorf("on record: %+v", last)
	}
}

// What cannot be put on record stays to be found again.
func TestState_KilledRunThatCannotBeReported(t *testing.T) {
	s := opened(t)
	must.OK(t, os.Mkdir(s.LogPath(), 0o700))
	writeDeadRecord(t, s, supervise.Record{Command: "tool", State: supervise.StateRunning}, false)
	if told, left, err := s.ReportKilled(); err != nil || len(told) != 0 || len(left) != 1 {
		t.Errorf("told of %v, left %v: %v", told, left, err)
	}
	must.OK(t, os.Remove(s.LogPath()))
	if told, left, err := s.ReportKilled(); err != nil || len(told) != 1 || len(left) != 0 || len(logged(t, s)) != 1 {
		t.Errorf("told of %v, left %v: %v", told, left, err)
	}
}

// A state that is not there, or that others may write to, is left alone.
func TestState_ReportKilledOfAStrangersState(t *testing.T) {
	none := &state.State{Dir: filepath.Join(t.TempDir(), "none")}
	s := opened(t)
	writeDeadRecord(t, s, supervise.Record{Command: "tool", State: supervise.StateRunning}, false)
	must.OK(t, os.Chmod(s.Dir, 0o777))
	file := &state.State{Dir: filepath.Join(t.TempDir(), "file")}
	must.OK(t, os.WriteFile(file.Dir, nil, 0o600))
	for _, one := range []*state.State{none, s, file} {
		if told, left, err := one.ReportKilled(); err != nil || len(told)+len(left) != 0 {
			t.Errorf("told of %v, left %v: %v", told, left, err)
		}
	}
	if len(logged(t, s)) != 0 {
		t.Error("it was written to")
	}
}

func TestState_HandleFailure(t *testing.T) {
	for name, tt := range map[string]struct {
		class   verdict.Class
		session state.Session
		want    string // the status of the session on record
	}{
		"in a session":                       {verdict.Overloaded, state.Session{Profile: "claude", ID: oneSession}, state.SessionFailed},
		"of a person's will":                 {verdict.Interrupted, state.Session{Profile: "claude", ID: oneSession}, state.SessionInterrupted},
		"in a session that is not known":     {verdict.Overloaded, state.Session{Profile: "claude", ID: otherSession}, state.SessionRunning},
		"in no session":                      {verdict.Overloaded, state.Session{}, state.SessionRunning},
		"in a session with a name of a path": {verdict.Overloaded, state.Session{Profile: "../claude", ID: oneSession}, state.SessionRunning},
	} {
		t.Run(name, func(t *testing.T) {
			s := opened(t)
			must.OK(t, s.SaveSession(state.Session{Profile: "claude", ID: oneSession, Dir: "/a", Status: state.SessionRunning}))
			c := journal.Classification{Type: tt.class, Message: "it failed", IsRetryable: true}
			if tt.session.ID == otherSession {
				c.Message = strings.Repeat("it failed ", 1000) // more than a line has room for
			}
			if _, err := s.HandleFailure(state.Handled{Classification: c, Session: tt.session, Run: run, Context: map[string]any{"step": 3}}, alert.Settings{}); err != nil {
				t.Fatal(err)
			}
			log := logged(t, s)
			if len(log) != 1 {
				t.Fatalf("on record: %+v", log)
			}
			e := log[0]
			if e.Kind != journal.Audit || e.Event != journal.Failure || e.ErrorType != tt.class || e.Invocation != run || !strings.HasPrefix(e.Error, "it failed") || e.Profile == "" || e.Session != tt.session.ID {
				t.Errorf("on record: %+v", e)
			}
			if string(e.Detail) != `{"context":{"step":3},"is_retryable":true}` {
				t.Errorf("detail %s", e.Detail)
			}
			session := s.Session("claude", oneSession)
			if session.Status != tt.want || session.Dir != "/a" {
				t.Errorf("the session: %+v", session)
			}
		})
	}
}

func TestState_SaveSessionTrouble(t *testing.T) {
	s := opened(t)
	must.OK(t, os.WriteFile(filepath.Join(s.Dir, "sessions"), nil, 0o600))
	if err := s.SaveSession(state.Session{Profile: "claude", ID: oneSession}); err == nil {
		t.Error("a session was saved in a file")
	}
	if err := s.SaveSession(state.Session{Profile: "claude", ID: "no id"}); err != nil {
		t.Errorf("what has no name needs no place: %v", err)
	}
	s = opened(t)
	must.OK(t, os.MkdirAll(filepath.Join(s.Dir, "sessions", "claude-"+oneSession+".json", "sub"), 0o700))
	if err := s.SaveSession(state.Session{Profile: "claude", ID: oneSession}); err == nil {
		t.Error("a session was saved over a directory")
	}
	if left, _ := filepath.Glob(filepath.Join(s.Dir, "sessions", ".new-*")); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestState_Parts(t *testing.T) {
	s := opened(t)
	for name, dir := range map[string]string{"alerts": s.Alerts().Dir, "gates": s.Gates().Dir, "scopes": s.Scopes().Dir, "runs": s.Records().Dir} {
		if dir != filepath.Join(s.Dir, name) {
			t.Errorf("%s are in %s", name, dir)
		}
	}
	rec, err := s.CreateRecord(supervise.Record{ID: run, Started: time.Now()})
	must.OK(t, err)
	defer rec.Remove()
	if runs, err := s.Records().List(); err != nil || len(runs) != 1 || runs[0].ID != run {
		t.Errorf("%v, %v", runs, err)
	}
}
