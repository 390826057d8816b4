package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/verdict"
)

// Session is what is on record of a session of an agent: enough to find the last one.
type Session struct {
	Profile string        `json:"profile"`
	ID      string        `json:"id"`
	Dir     string        `json:"dir"`    // sessions belong to a directory
	Status  string        `json:"status"` // running, done, failed, interrupted, abandoned
	Updated time.Time     `json:"updated"`
	Usage   verdict.Usage `json:"usage"`
	// ToldCost is what the session has cost in all as its CLI has told last, for so many tokens; nil if the CLI tells what
	// each attempt has cost, or somebody has used it since who did not tell.
	ToldCost   *float64 `json:"told_cost_usd,omitempty"`
	ToldTokens int64    `json:"told_tokens,omitempty"`
}

// What a session's status can be.
const (
	SessionRunning     = "running"
	SessionDone        = "done"
	SessionFailed      = "failed"
	SessionInterrupted = "interrupted"
	SessionAbandoned   = "abandoned" // a retry has begun another
)

func (s *State) sessionDir() string { return filepath.Join(s.Dir, "sessions") }

func (s *State) sessionPath(profile, id string) string {
	return filepath.Join(s.sessionDir(), profile+"-"+id+".json")
}

// isSessionID: both CLIs name their sessions by UUIDs. Nothing else becomes a file's name.
func isSessionID(id string) bool { return isUUID(id) }

func isUUID(id string) bool {
	if len(id) != 36 {
		return false
	}
	for i, c := range id {
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case !strings.ContainsRune("0123456789abcdefABCDEF", c):
			return false
		}
	}
	return true
}

// SaveSession puts a session on record, in place of what was there.
func (s *State) SaveSession(session Session) error {
	if !isSessionID(session.ID) {
		return nil
	}
	data, err := json.Marshal(session)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(s.sessionDir(), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.sessionDir(), ".new-*") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(f.Name(), s.sessionPath(session.Profile, session.ID))
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Session reads what is on record of a session; the zero value if nothing is.
func (s *State) Session(profile, id string) (session Session) {
	if !isSessionID(id) {
		return session
	}
	if data, err := os.ReadFile(s.sessionPath(profile, id)); err == nil {
		json.Unmarshal(data, &session)
	}
	return session
}

// LastSession finds the session of a profile and directory that was used last.
func (s *State) LastSession(profile, dir string) (last Session, ok bool) {
	files, _ := os.ReadDir(s.sessionDir())
	for _, file := range files {
		id, ours := strings.CutPrefix(strings.TrimSuffix(file.Name(), ".json"), profile+"-")
		if !ours {
			continue
		}
		if one := s.Session(profile, id); one.Dir == dir && one.ID != "" && one.Updated.After(last.Updated) {
			last, ok = one, true
		}
	}
	return last, ok
}

// sessionWanted finds out which session is to be resumed, and makes this run its only writer.
func (inv *Invocation) sessionWanted() (*gate.Slot, *attempt) {
	talk := inv.talk
	if talk == nil {
		return nil, nil
	}
	if talk.first.Session == LastSession {
		last, ok := Session{}, false
		if inv.state != nil {
			last, ok = inv.state.LastSession(inv.profile.Name(), inv.dir())
		}
		if !ok && !inv.runner.Resume.OrNew {
			return nil, &attempt{code: CodeUsage, verdict: verdict.Verdict{Class: verdict.SessionNotFound, Rule: "resume", Sent: verdict.SentNo},
				message: fmt.Sprintf("there is no session of %s on record for this directory; leave --resume out to begin one", inv.profile.Name())}
		}
		talk.first.Session = last.ID
		talk.turn.Session = last.ID
	}
	id := talk.first.Session
	if id == "" {
		id = talk.traits.Resumes
	}
	if !isSessionID(id) {
		return nil, nil
	}
	return inv.enterScope(sessionScope(inv.profile.Name(), id), inv.runner.OnBusy)
}

// nextSession prepares for the session of an attempt. That of the attempt before, if it is another, is left. What the next
// one has cost so far is looked up now: until the session was free, others may have used it.
func (inv *Invocation) nextSession() {
	talk := inv.talk
	id := talk.turn.Session
	if id == "" {
		id = talk.traits.Resumes
	}
	if talk.live != "" && talk.live != id {
		inv.leaveSession(SessionAbandoned)
		talk.live = ""
	}
	if id == "" || id != talk.account.session {
		talk.account = inv.accountOf(id)
	}
}

// accountOf is what is known of the cost of a session. One that begins has cost nothing.
func (inv *Invocation) accountOf(id string) account {
	a := account{session: id}
	switch {
	case id == "" && !inv.talk.traits.GoesOn:
		a.told = new(float64)
	case inv.state != nil:
		s := inv.state.Session(inv.profile.Name(), id)
		a.told, a.tokens = s.Usage.CostUSD, s.Usage.InputTokens+s.Usage.OutputTokens
		if s.ToldCost != nil {
			a.told, a.tokens = s.ToldCost, s.ToldTokens
		}
	}
	return a
}

// sessionScope is the scope of a session: it never has two writers.
func sessionScope(profile, id string) string { return profile + " session " + strings.ToLower(id) }

// sessionBegins puts a session on record as soon as it has a name.
func (inv *Invocation) sessionBegins(id string) {
	inv.talk.live, inv.talk.account.session = id, id
	if inv.state == nil {
		return
	}
	if inv.sessionSlot == nil {
		inv.sessionSlot, _ = inv.state.scopes().Take(sessionScope(inv.profile.Name(), id), 1, inv.id)
	}
	inv.saveSession(id, SessionRunning)
}

// sessionEnds puts the session's end on record.
func (inv *Invocation) sessionEnds(r *Result) {
	if inv.talk == nil || inv.talk.live == "" {
		return
	}
	status := SessionFailed
	switch {
	case r.Success:
		status = SessionDone
	case r.Verdict.Class == verdict.Interrupted:
		status = SessionInterrupted
	}
	inv.leaveSession(status)
}

// leaveSession puts on record how the present session stands, and gives it free.
func (inv *Invocation) leaveSession(status string) {
	if inv.state != nil {
		inv.saveSession(inv.talk.live, status)
	}
	inv.sessionSlot.Free()
	inv.sessionSlot = nil
}

func (inv *Invocation) saveSession(id, status string) {
	s := inv.state.Session(inv.profile.Name(), id)
	s.Profile, s.ID, s.Dir, s.Status = inv.profile.Name(), id, inv.dir(), status
	if status != SessionAbandoned { // that is no use of it
		s.Updated = time.Now()
	}
	if a := &inv.talk.account; status != SessionRunning {
		s.Usage, a.here = s.Usage.Add(a.here.sum()), tally{}
		s.ToldCost, s.ToldTokens = a.told, a.tokens
		if a.open > 0 || a.cut {
			s.ToldCost, s.ToldTokens = nil, 0
		}
	}
	if err := inv.state.SaveSession(s); err != nil {
		inv.trouble(err)
	}
}

// dir is the directory that the command runs in.
func (inv *Invocation) dir() string {
	dir := inv.command.Dir
	if dir == "" {
		dir, _ = os.Getwd()
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}
