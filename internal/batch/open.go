package batch

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/belay-run/belay/internal/safefile"
)

// OpenLedger opens the results at path, or begins them. The error is an [*InUse] if another batch has them.
func OpenLedger(path string, tasks string) (*Ledger, error) {
	if isNull(path) {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		return &Ledger{path: path, file: file, journal: &journal{said: notes{underWay: map[string]interrupted{}}}, done: make(chan struct{})}, err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the journal is beside the file itself, whatever link leads to it
	}
	// The file first: where it cannot be written, no journal must be left beside it.
	file, created, err := openResults(path)
	if err != nil {
		return nil, err
	}
	var j *journal
	var underWay map[string]interrupted
	if !claim(file) {
		err = &InUse{Path: path, Holder: readHolder(path)}
	} else if j, underWay, err = openJournal(path+journalSuffix, tasks); err == nil {
		return &Ledger{path: path, file: file, journal: j, underWay: underWay, done: make(chan struct{})}, nil
	}
	if _, isUsed := errors.AsType[*InUse](err); created && !isUsed {
		os.Remove(path)
	}
	file.Close()
	return nil, err
}

// readHolder is the batch that has the results, if it has them by this name.
func readHolder(path string) Holder {
	notes, live := readLive(path + journalSuffix)
	if !live {
		return Holder{}
	}
	return notes.holder
}

// Load tells the plan which of its tasks have ended, cuts a torn line, and gets ready to append.
func (l *Ledger) Load(p *Plan) error {
	earlier := map[uint32]bool{} // tasks whose last result is of what they said in between
	err := l.read(func(offset int64, _ []byte, r parsed) {
		l.Spent += r.cost
		if begun, ok := l.underWay[r.task]; ok && offset >= begun.offset {
			delete(l.underWay, r.task) // it ended; only the note of that was not written
			l.note(endOf(r.task))
		}
		if p.streamed && r.state != Skipped {
			p.past[r.task] = entry{hash: r.hash, state: r.state}
		}
		if n, ok := p.ended(r); ok {
			delete(earlier, n)
		} else if n, ok := p.find(r.task); ok && *p.state(n) != Waiting {
			earlier[n] = true
		}
	})
	if err == nil {
		err = l.recall(p, earlier)
	}
	if err != nil {
		return err
	}
	for _, was := range l.underWay {
		l.Spent += was.paid
	}
	l.synced.Go(l.sync)
	return nil
}

// recall appends results again that are no longer the last of their tasks, though they are those of what the tasks say now: the last
// one is the one that counts for readers. They have cost nothing this time.
func (l *Ledger) recall(p *Plan, earlier map[uint32]bool) error {
	if len(earlier) == 0 {
		return nil
	}
	lines := map[uint32][]byte{}
	if _, _, err := scan(l.file, func(_ int64, line []byte, r parsed) {
		if n, ok := p.find(r.task); ok && earlier[n] && p.tasks[n].hash == r.hash && *p.state(n) == r.state {
			lines[n] = bytes.Clone(line)
		}
	}); err != nil {
		return err
	}
	var all []byte
	for _, n := range slices.Sorted(maps.Keys(lines)) {
		all = append(append(all, withoutCost(lines[n])...), '\n')
	}
	written, err := l.file.Write(all)
	if err != nil {
		l.file.Truncate(l.size)
		return err
	}
	l.size += int64(written)
	return nil
}

// Peek tells the plan which of its tasks have ended, and changes nothing.
func Peek(path string, p *Plan) error {
	if isNull(path) {
		return nil
	}
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, _, err = scan(f, func(_ int64, _ []byte, r parsed) { p.ended(r) })
	return err
}

// ended takes a result that is there already into the plan. It reports whether it is that of a task as it is now.
func (p *Plan) ended(r parsed) (n uint32, ok bool) {
	if n, ok = p.find(r.task); !ok || p.tasks[n].hash != r.hash || r.state == Skipped {
		return n, false
	}
	p.tasks[n].state = r.state
	p.tasks[n].other = p.Command != 0 && r.command != 0 && r.command != p.Command
	return n, true
}
