package member

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"time"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record/logfile"
)

// Shipper takes the lines of this machine's log to PostgreSQL, each exactly once: how far a file is there is changed in the same transaction that
// adds its lines, and only from where the shipper believes it to be. So it does not matter who is killed when, or whether the answer to a commit
// arrives.
type Shipper struct {
	Store *store.Store
	ID    store.Identity
	Dir   string // the state directory
	// Keep is how long PostgreSQL keeps lines. Older ones are not shipped; zero ships all.
	Keep time.Duration
	// Ahead says how far our clock is ahead of PostgreSQL's; nil means not at all.
	Ahead func() time.Duration

	known      map[string]store.LogPosition // by identity; nil if PostgreSQL has to be asked
	remembered map[string]int64
	at         time.Time
}

// Ship ships what the log has by now, and says how many lines that were. After an error the next call goes on where PostgreSQL is.
func (s *Shipper) Ship(ctx context.Context) (lines int, err error) {
	files, _, err := logfile.Files(s.Dir)
	if err != nil {
		return 0, err
	}
	defer func() {
		for _, f := range files {
			f.Close()
		}
		if err != nil {
			s.known = nil
		}
	}()
	for _, f := range files {
		for {
			n, more, err := s.shipPiece(ctx, f)
			if errors.Is(err, store.ErrMoved) {
				s.known = nil // another process is shipping as well, or PostgreSQL was restored from a backup
				continue
			}
			if err != nil {
				return lines, err
			}
			if lines += n; !more {
				break
			}
		}
	}
	return lines, s.remember(files)
}

// shipPiece ships the next lines of a file, and says whether there may be more.
func (s *Shipper) shipPiece(ctx context.Context, f *logfile.File) (lines int, more bool, err error) {
	if err := s.ask(ctx); err != nil {
		return 0, false, err
	}
	from, known := s.known[f.Identity()]
	if !known {
		from = store.LogPosition{Machine: s.ID.Name, Identity: f.Identity()}
	}
	if changed, err := s.changed(f, from); err != nil {
		return 0, false, err
	} else if changed {
		if err := s.Store.ResetLog(ctx, s.ID, from); err != nil {
			return 0, false, err
		}
		from.Position, from.Tail, from.Edition = 0, "", from.Edition+1
		s.known[f.Identity()] = from
	}
	if from.Position >= f.Size() {
		return 0, false, nil
	}
	raw, to, err := f.Lines(from.Position)
	if err != nil || to == from.Position {
		return 0, false, err
	}
	tail, err := f.Tail(to)
	if err != nil {
		return 0, false, err
	}
	var list []store.LogLine
	oldest, ahead := s.oldest(), time.Duration(0)
	if s.Ahead != nil {
		ahead = s.Ahead()
	}
	for _, l := range raw {
		if !before(l.Text, oldest) {
			list = append(list, store.LogLine{Position: l.Position, Text: bytes.TrimRight(journal.Redacted(l.Text), "\n"), Ahead: ahead})
		}
	}
	next := from
	next.Position, next.Tail = to, tail
	if err := s.Store.AddLog(ctx, s.ID, from, next, list); err != nil {
		return 0, false, err
	}
	s.known[f.Identity()] = next
	return len(list), true, nil
}

// ask asks PostgreSQL how far the log is there, unless that is known.
func (s *Shipper) ask(ctx context.Context) error {
	if s.known != nil {
		return nil
	}
	list, err := s.Store.LogPositions(ctx, s.ID.Name)
	if err != nil {
		return err
	}
	s.known = map[string]store.LogPosition{}
	for _, p := range list {
		s.known[p.Identity] = p
	}
	return nil
}

// changed reports whether a file is not what it was before the position.
func (s *Shipper) changed(f *logfile.File, at store.LogPosition) (bool, error) {
	if at.Position == 0 {
		return false, nil
	}
	if at.Position > f.Size() {
		return f.Live(), nil // else it is a copy of what was shipped
	}
	tail, err := f.Tail(at.Position)
	return err == nil && tail != at.Tail, err
}

// oldest is the time before which lines are not shipped, as the log has it.
func (s *Shipper) oldest() string {
	if s.Keep == 0 {
		return ""
	}
	return time.Now().Add(-s.Keep).UTC().Format("2006-01-02T15:04:05")
}

// before reports whether a line was written before a time. Lines begin with theirs, in UTC; what does not is not old.
func before(line []byte, oldest string) bool {
	text, ok := bytes.CutPrefix(line, []byte(`{"timestamp":"`))
	return ok && len(text) >= len(oldest) && string(text[:len(oldest)]) < oldest
}

// rememberEvery is how often it is put on record that there is a member at all.
const rememberEvery = 24 * time.Hour

// remember puts on record which of the files that are no longer written to are in PostgreSQL as a whole: belay prune leaves the others alone.
func (s *Shipper) remember(files []*logfile.File) error {
	shipped := map[string]int64{}
	for _, f := range files {
		if !f.Live() {
			shipped[f.Identity()] = s.known[f.Identity()].Position
		}
	}
	if s.remembered != nil && maps.Equal(shipped, s.remembered) && time.Since(s.at) < rememberEvery {
		return nil
	}
	if err := logfile.WriteShipped(s.Dir, shipped); err != nil {
		return err
	}
	s.remembered, s.at = shipped, time.Now()
	return nil
}
