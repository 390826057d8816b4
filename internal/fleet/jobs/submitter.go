package jobs

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/safefile"
)

// Submitter has a key of its own, with which it submits jobs and reads their results. It can neither work on jobs nor read those of others.
type Submitter struct {
	ID      string    `json:"id"` // random: a name that is given again gets another key
	Name    string    `json:"name"`
	Created time.Time `json:"created,omitzero"`
}

// valid reports whether there can be such a submitter. The name goes into key files, tags and messages.
func (s *Submitter) valid() bool { return label.IsKey(s.Name) && label.IsKey(s.ID) }

func (s *Submitter) is(other Submitter) bool { return s.ID == other.ID && s.Name == other.Name }

// submitterTag is the tag of a run that names who has submitted the job.
const submitterTag = "submitter"

// OfSubmitter reports whether it is the key of a submitter, and not that of the fleet.
func (k *Key) OfSubmitter() bool { return k != nil && k.submitter != nil }

// tag notes in the tags of a job who has submitted it. In a fleet with a key a job cannot say so itself.
func (k *Key) tag(job *fleetpipe.Job) {
	if k == nil {
		return
	}
	delete(job.Tags, submitterTag)
	if k.submitter == nil {
		return
	}
	if job.Tags == nil {
		job.Tags = map[string]string{}
	}
	others := slices.Sorted(maps.Keys(job.Tags))
	job.Tags[submitterTag] = k.submitter.Name
	for n := len(others); n > 0 && (label.Labels{Tags: job.Tags}).Check() != nil; n-- { // there is no room for all of them
		delete(job.Tags, others[n-1])
	}
}

// SubmittersFile is the name of the file for [Submitters.Path].
const SubmittersFile = "submitters"

// Submitters are those that have a key which was not withdrawn. The list is a setting in PostgreSQL, which every member can change, so it carries a MAC by the
// fleet's key, and a number that grows. Each machine keeps the newest that it has seen and goes by that, but for keys of which it has seen that they were withdrawn: if an older
// list is put back, or PostgreSQL is restored, nothing changes there.
type Submitters struct {
	Store *store.Store
	Key   *Key // the fleet's
	// Path is the file in which this machine keeps the list.
	Path string

	mu     sync.Mutex
	list   submitterList
	looked time.Time // when PostgreSQL was last asked
}

type submitterList struct {
	Version   int64       `json:"version"`
	Keys      []Submitter `json:"keys"`
	Withdrawn []string    `json:"withdrawn"` // ids
}

// lookAfter is how long a list is taken for the newest.
const lookAfter = 3 * time.Second

// selectSubmitters is the statement that asks PostgreSQL for the list.
const selectSubmitters = "select value from belay.setting where name = 'submitters'"

// admit says why jobs that are sealed with a key are not run here; nil if they are.
func (s *Submitters) admit(ctx context.Context, key *Key) error {
	if !key.OfSubmitter() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for failures := 1; s.looked.IsZero() || time.Since(s.looked) > lookAfter; failures++ {
		err := s.look(ctx, s.Store.Pool.QueryRow)
		if err != nil && (permanent(err) || !pause(ctx, failures)) {
			return err
		}
	}
	if !slices.ContainsFunc(s.list.Keys, key.submitter.is) {
		return message.Error(message.FleetKeyWithdrawn(key.submitter.Name), ErrKey)
	}
	return nil
}

// look makes the list the newest of those in memory, on disk and in PostgreSQL.
func (s *Submitters) look(ctx context.Context, query func(ctx context.Context, sql string, args ...any) pgx.Row) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	var there string
	if err := query(ctx, selectSubmitters).Scan(&there); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return err
	}
	kept, _ := safefile.ReadOwn(s.Path, 1<<20)
	s.take(string(kept))
	if s.take(there) {
		s.keep()
	}
	s.looked = time.Now()
	return nil
}

// take adds what a list says, if the fleet's key has signed it, and reports whether there is something new in it.
func (s *Submitters) take(text string) bool {
	mac, data, _ := strings.Cut(text, " ")
	var list submitterList
	if want, err := s.mac([]byte(data)); err != nil || !hmac.Equal([]byte(mac), []byte(want)) || json.Unmarshal([]byte(data), &list) != nil {
		return false
	}
	before, version := len(s.list.Withdrawn), s.list.Version
	s.list.Withdrawn = normal(append(list.Withdrawn, s.list.Withdrawn...))
	if list.Version > version {
		s.list.Version, s.list.Keys = list.Version, list.Keys
	}
	s.list.Keys = slices.DeleteFunc(s.list.Keys, func(one Submitter) bool { return slices.Contains(s.list.Withdrawn, one.ID) })
	return s.list.Version > version || len(s.list.Withdrawn) > before
}

func (s *Submitters) mac(data []byte) (string, error) {
	secret, err := s.Key.derive("submitters")
	h := hmac.New(sha256.New, secret)
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)), err
}

// text is the list as it is in PostgreSQL and on disk.
func (s *Submitters) text() (string, error) {
	data, err := json.Marshal(&s.list)
	if err != nil {
		return "", err
	}
	mac, err := s.mac(data)
	return mac + " " + string(data), err
}

// keep keeps the list on disk. If that fails, a later start of this machine has only that of PostgreSQL.
func (s *Submitters) keep() {
	if text, err := s.text(); err == nil && safefile.MakeOwnDir(filepath.Dir(s.Path)) == nil {
		atomicfile.Write(s.Path, ".submitters-*", []byte(text))
	}
}

// List lists them.
func (s *Submitters) List(ctx context.Context) ([]Submitter, error) {
	err := s.look(ctx, s.Store.Pool.QueryRow)
	return s.list.Keys, s.Store.Trouble(err)
}

// Add makes the key of a new submitter. It counts once hand, which is called with it, has returned without an error.
func (s *Submitters) Add(ctx context.Context, name string, hand func(*Key) error) error {
	return s.change(ctx, func() error {
		if slices.ContainsFunc(s.list.Keys, func(one Submitter) bool { return one.Name == name }) {
			return message.Error(fmt.Sprintf("%s has a key already; withdraw it first with: belay fleet key remove %s", name, name))
		}
		id := make([]byte, 16)
		rand.Read(id) // it never fails
		one := Submitter{ID: hex.EncodeToString(id), Name: name, Created: time.Now().UTC().Truncate(time.Second)}
		if !one.valid() {
			return message.Error(fmt.Sprintf("%q is not a name for a submitter: up to 40 letters, digits and . _ -", printable.Line(name)))
		}
		s.list.Keys = append(s.list.Keys, one)
		key, err := s.Key.ofSubmitter(&one)
		if err != nil {
			return err
		}
		return hand(key)
	})
}

// Remove withdraws the key of a submitter.
func (s *Submitters) Remove(ctx context.Context, name string) error {
	return s.change(ctx, func() error {
		at := slices.IndexFunc(s.list.Keys, func(one Submitter) bool { return one.Name == name })
		if at < 0 {
			return message.Error(fmt.Sprintf("there is no key of %s; see: belay fleet key list", printable.Line(name)))
		}
		s.list.Withdrawn = append(s.list.Withdrawn, s.list.Keys[at].ID)
		s.list.Keys = slices.Delete(s.list.Keys, at, at+1)
		return nil
	})
}

// change changes the list, as one machine at a time.
func (s *Submitters) change(ctx context.Context, change func() error) error {
	var ours error // is not PostgreSQL's
	err := pgx.BeginFunc(ctx, s.Store.Pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "insert into belay.setting (name, value) values ('submitters', '') on conflict do nothing"); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, selectSubmitters+" for update"); err != nil {
			return err
		}
		if err := s.look(ctx, tx.QueryRow); err != nil {
			return err
		}
		if ours = change(); ours != nil {
			return ours
		}
		// The time, so that a list in a database that was made anew is newer than those that machines keep.
		s.list.Version = max(s.list.Version+1, time.Now().UnixMilli())
		text, err := s.text()
		if err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "update belay.setting set value = $1 where name = 'submitters'", text)
		return err
	})
	if ours != nil {
		return ours
	}
	if err == nil {
		s.keep()
	}
	return s.Store.Trouble(err)
}

// checkSubmitter says whether the key of a submitter was withdrawn, as far as can be told without the fleet's key.
func (k *Key) checkSubmitter(ctx context.Context, s *store.Store) error {
	var text string
	if err := s.Pool.QueryRow(ctx, selectSubmitters).Scan(&text); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return s.Trouble(err)
	}
	_, data, _ := strings.Cut(text, " ")
	var list submitterList
	json.Unmarshal([]byte(data), &list)
	if !slices.ContainsFunc(list.Keys, k.submitter.is) {
		return message.Error(message.FleetKeyWithdrawn(k.submitter.Name), ErrKey)
	}
	return nil
}
