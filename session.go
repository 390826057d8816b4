package belay

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
	Status  string        `json:"status"` // running, done, failed, interrupted
	Updated time.Time     `json:"updated"`
	Usage   verdict.Usage `json:"usage"`
}

// What a session's status can be.
const (
	SessionRunning     = "running"
	SessionDone        = "done"
	SessionFailed      = "failed"
	SessionInterrupted = "interrupted"
)

func (s *State) sessionDir() string { return filepath.Join(s.Dir, "sessions") }

func (s *State) sessionPath(profile, id string) string {
	return filepath.Join(s.sessionDir(), profile+"-"+id+".json")
}

// isSessionID: both CLIs name their sessions by UUIDs. Nothing else becomes a file's name.
func isSessionID(id string) bool {
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
	talk.before = inv.costOf(id)
	if !isSessionID(id) {
		return nil, nil
	}
	return inv.enterScope(sessionScope(inv.profile.Name(), id), inv.runner.OnBusy)
}

// costOf is what a session has cost so far; nil if nobody knows. One that begins has cost nothing.
func (inv *Invocation) costOf(id string) *float64 {
	if id == "" && !inv.talk.traits.GoesOn {
		return new(float64)
	}
	if inv.state == nil {
		return nil
	}
	return inv.state.Session(inv.profile.Name(), id).Usage.CostUSD
}

// sessionScope is the scope of a session: it never has two writers.
func sessionScope(profile, id string) string { return profile + " session " + strings.ToLower(id) }

// sessionBegins puts a session on record as soon as it has a name.
func (inv *Invocation) sessionBegins(id string) {
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
	if inv.talk == nil || inv.state == nil || inv.talk.session == "" {
		return
	}
	status := SessionFailed
	switch {
	case r.Success:
		status = SessionDone
	case r.Verdict.Class == verdict.Interrupted:
		status = SessionInterrupted
	}
	inv.saveSession(inv.talk.session, status)
	inv.sessionSlot.Free()
}

func (inv *Invocation) saveSession(id, status string) {
	before := inv.state.Session(inv.profile.Name(), id)
	s := Session{Profile: inv.profile.Name(), ID: id, Dir: inv.dir(), Status: status, Updated: time.Now(), Usage: before.Usage}
	if status != SessionRunning {
		s.Usage = s.Usage.Add(inv.talk.usage)
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
