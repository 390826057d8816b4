package batch

import (
	"errors"
	"io"
	"maps"
	"os"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/batch/marked"
	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// journalMark is how a journal begins, of this version and of all before it.
const journalMark = `{"holder":{"pid":`

// journalSuffix names the journal beside the results.
const journalSuffix = ".state"

// journal is a file beside the results: who has them, and which tasks are running, so that a later start knows them although this one
// was killed. It is locked while a batch runs, and gone when all tasks are over. It is written anew when it has grown, see renew.
type journal struct {
	path string
	// found says that an empty file was there before the batch, which is left there as empty as it was.
	found bool

	mu   sync.Mutex
	file *os.File // nil if nothing is kept
	buf  []byte
	err  error // the first write that failed: then only results are certain

	said    notes // what the file says, with what is in buf
	size    int64 // of the file
	renewAt int64 // the size at which it is written anew
}

// openJournal opens and locks the journal, and says which tasks were running. A file of another kind that has its name is left as it is.
func openJournal(path, tasks string) (*journal, map[string]interrupted, error) {
	for {
		f, err := safefile.OpenOwnElsewhere(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
		created := err == nil
		if errors.Is(err, os.ErrExist) {
			if f, err = safefile.OpenOwnElsewhere(path, os.O_RDWR); errors.Is(err, os.ErrNotExist) {
				continue // a batch has ended meanwhile and taken it away
			}
		}
		if err != nil {
			return nil, nil, err
		}
		info, err := f.Stat()
		if err == nil && info.Size() > 0 && !marked.Begins(f, journalMark) {
			err = errors.New(message.BatchNotOurs(path))
		}
		if err != nil {
			f.Close()
			return nil, nil, err
		}
		held, err := tryLock(f)
		if err != nil && !errors.Is(err, errors.ErrUnsupported) {
			f.Close()
			return nil, nil, err
		}
		if err == nil && !held {
			defer f.Close()
			notes := readNotes(f)
			return nil, nil, &InUse{Path: path[:len(path)-len(journalSuffix)], Holder: notes.holder}
		}
		if !isAt(f, path) { // a batch has ended meanwhile and taken it away
			f.Close()
			continue
		}
		j := &journal{path: path, file: f, found: !created && info.Size() == 0, said: readNotes(f)}
		underWay := maps.Clone(j.said.underWay)
		if err := j.begin(tasks); err != nil {
			if created {
				os.Remove(path)
			}
			j.file.Close()
			return nil, nil, err
		}
		return j, underWay, nil
	}
}

// isAt reports whether an open file is the one at a path.
func isAt(f *os.File, path string) bool {
	mine, err := f.Stat()
	there, serr := os.Lstat(path)
	return err == nil && serr == nil && os.SameFile(mine, there)
}

// tryLock locks the journal. One who looks how the batch stands has it for a moment.
func tryLock(f *os.File) (held bool, err error) {
	return retried(func() (bool, error) { return flock.Try(f, flock.Exclusive) })
}

// claim takes the results for this batch alone, by whatever name. What a killed batch was about to start has them for a moment: a new process holds
// the files of its parent until it executes its command.
func claim(f *os.File) bool {
	held, _ := retried(func() (bool, error) { return flock.Claim(f), nil })
	return held
}

// retried tries a few times.
func retried(try func() (bool, error)) (held bool, err error) {
	for range 15 {
		if held, err = try(); held || err != nil {
			return held, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, nil
}

// begin says who has the results now. What is known of tasks that were running is kept, and nothing else.
func (j *journal) begin(tasks string) (err error) {
	host, _ := os.Hostname()
	j.said.holder = Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second), Tasks: tasks}
	j.said.progress = nil
	keeps := len(j.said.underWay) > 0 || j.said.fleet != ""
	if keeps && j.renew() == nil {
		return nil
	}
	j.removeRenewed()
	if !keeps {
		err = j.file.Truncate(0)
	} else if j.said.torn {
		j.buf = append(j.buf, '\n')
	}
	if err != nil {
		return err
	}
	if j.size, err = j.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	j.renewAt = max(maxJournal, 4*j.size)
	j.add(note{Holder: &j.said.holder})
	j.write()
	return j.err
}

// removeRenewed removes what a batch has left that was killed as it wrote the journal anew. A file without a mark is known to be that if it is empty, and
// the journal says that it was about to be made.
func (j *journal) removeRenewed() {
	path := j.path + renewedSuffix
	marked.Remove(path, journalMark)
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() == 0 && j.said.renewing {
		os.Remove(path)
	}
	j.said.renewing = false
}

const (
	// renewedSuffix names the file that takes the place of the journal.
	renewedSuffix = ".new"
	// maxJournal is how large the journal gets at least before it is written anew.
	maxJournal = 1 << 20
)

// renew writes the journal anew, with only what still matters. The new file takes the place of the old one when all of it is on disk and locked, so
// that a kill at any moment loses nothing. If that does not work out, the old one stays.
func (j *journal) renew() error {
	path := j.path + renewedSuffix
	j.removeRenewed()
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) { // should we be killed before it has its mark, it is known by this
		n, _ := j.file.Write(appendNote([]byte("\n"), note{Renewing: true}))
		j.size += int64(n)
	}
	f, err := safefile.OpenOwnElsewhere(path, os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	data := j.said.encode()
	_, err = f.Write(data)
	if _, lerr := flock.Try(f, flock.Exclusive); lerr != nil && !errors.Is(lerr, errors.ErrUnsupported) {
		err = errors.Join(err, lerr)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(path, j.path)
	}
	if err != nil {
		f.Close()
		os.Remove(path)
		return err
	}
	j.file.Close() // the one before, and its lock
	j.file, j.buf, j.size = f, j.buf[:0], int64(len(data))
	j.renewAt = max(maxJournal, 4*j.size)
	return nil
}

// note writes a note, with what waits to be written. That a task has ended can wait for the next write: the results say so too.
func (j *journal) note(n note) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.said.take(&n)
	if j.add(n); n.End == "" || len(j.buf) > 4<<10 {
		j.write()
	}
}

func (j *journal) add(n note) { j.buf = appendNote(j.buf, n) }

func (j *journal) write() {
	if j.file == nil {
		j.buf = j.buf[:0]
	}
	if len(j.buf) == 0 {
		return
	}
	n, err := j.file.Write(j.buf)
	j.buf, j.size = j.buf[:0], j.size+int64(n)
	if j.err == nil {
		j.err = err
	}
	if j.size >= j.renewAt && j.renew() != nil {
		j.renewAt = 4 * j.size
	}
}

// close ends the use of the journal.
func (j *journal) close(over bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write()
	switch {
	case j.file == nil:
		return nil
	case over && j.found:
		j.file.Truncate(0)
	case over && isAt(j.file, j.path):
		os.Remove(j.path) // before it is unlocked: a process that has opened it in the meantime finds that it is another file
	}
	return j.file.Close()
}

// readLive reads the journal of a batch; live says that a process has it.
func readLive(path string) (n notes, live bool) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return n, false
	}
	defer f.Close()
	return readNotes(f), isLocked(path)
}

// isLocked reports whether a batch has the journal. The lock by which that is found out is given back at once.
func isLocked(path string) bool {
	for range 10 {
		f, err := safefile.OpenRegular(path)
		if err != nil {
			return false
		}
		held, err := flock.Try(f, flock.Shared)
		mine, ferr := f.Stat()
		f.Close()
		if there, serr := os.Stat(path); err != nil || !held || ferr != nil || serr != nil || os.SameFile(mine, there) {
			return err == nil && !held
		} // else another has taken its place meanwhile
	}
	return true
}
