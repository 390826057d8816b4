package state

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/safefile"
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
	// each attempt has cost, or if an attempt since then has not told its cost.
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

// maxSession bounds what is read of a session's file, which has a few hundred bytes.
const maxSession = 1 << 20

// maxName is the longest name of a profile or session that becomes part of a file's name.
const maxName = 100

// isSession reports whether a session can be on record: its id has the form that its profile's CLI gives to ids, and both
// names can be part of a file's name, whatever the profile admits.
func isSession(name, id string) bool {
	return isFileName(name) && isFileName(id) && profile.IsSession(name, id)
}

// isFileName reports whether a name can be part of a file's name: letters and digits of ASCII, - and _, and not too many.
func isFileName(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '_')
	})
}

// SaveSession puts a session on record, in place of what was there.
func (s *State) SaveSession(session Session) error {
	if !isSession(session.Profile, session.ID) {
		return nil
	}
	data, err := json.Marshal(session)
	if err != nil {
		return err
	}
	if err := safefile.MakeOwnDir(s.sessionDir()); err != nil {
		return err
	}
	return atomicfile.Write(s.sessionPath(session.Profile, session.ID), ".new-*", append(data, '\n'))
}

// Session reads what is on record of a session; the zero value if nothing is.
func (s *State) Session(profile, id string) (session Session) {
	if !isSession(profile, id) {
		return session
	}
	data, err := safefile.ReadOwn(s.sessionPath(profile, id), maxSession)
	if err != nil {
		return session
	}
	json.Unmarshal(data, &session)
	session.Usage.CostUSD, session.ToldCost = price.Credible(session.Usage.CostUSD), price.Credible(session.ToldCost)
	if session.Profile != profile { // "a-b" with "c" and "a" with "b-c" have the same file
		return Session{}
	}
	return session
}

// LastSession finds the session of a profile in one of the directories that was used last.
func (s *State) LastSession(profile string, dirs ...string) (last Session, ok bool) {
	names, _ := safefile.ReadOwnDir(s.sessionDir())
	for _, name := range names {
		id, ours := strings.CutPrefix(strings.TrimSuffix(name, ".json"), profile+"-")
		if !ours {
			continue
		}
		if one := s.Session(profile, id); slices.Contains(dirs, one.Dir) && one.ID != "" && one.Updated.After(last.Updated) {
			last, ok = one, true
		}
	}
	return last, ok
}
