package batch

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
)

// journalSuffix names the journal beside the results.
const journalSuffix = ".state"

// journal is a file beside the results: who has them, and which tasks are running, so that a later start knows them although this one
// was killed. It is locked while a batch runs, and gone when all tasks are over.
type journal struct {
	path string
	file *os.File

	mu  sync.Mutex
	buf []byte
	err error // the first write that failed: then only results are certain
}

// note is a line of the journal: one of these.
type note struct {
	Holder   *Holder         `json:"holder,omitempty"`
	Start    string          `json:"start,omitempty"` // the id of a task
	Offset   int64           `json:"offset,omitempty"`
	Hash     string          `json:"hash,omitempty"`
	End      string          `json:"end,omitempty"`
	Task     string          `json:"task,omitempty"`
	Session  string          `json:"session,omitempty"`
	Paid     float64         `json:"paid_usd,omitempty"`
	Progress json.RawMessage `json:"progress,omitempty"`
}

// Holder is the batch that has the results.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Tasks   string    `json:"tasks"`
}

// interrupted is a task that was running when the batch before ended.
type interrupted struct {
	hash    Hash
	session string  // in which an agent was working on it; empty if that is not known
	paid    float64 // what it had cost by then, as far as that was told
	offset  int64   // a result that begins before that is of an earlier start
}

// InUse says that another batch has the results.
type InUse struct {
	Path   string
	Holder Holder
}

func (e *InUse) Error() string {
	return message.BatchInUse(e.Path, e.Holder.PID, e.Holder.Host, e.Holder.Started)
}

// openJournal opens and locks the journal, and says which tasks were running.
func openJournal(path, tasks string) (*journal, map[string]interrupted, error) {
	for {
		f, err := safefile.OpenOwnElsewhere(path, os.O_RDWR|os.O_CREATE)
		if err != nil {
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
		mine, err := f.Stat()
		there, serr := os.Stat(path)
		if err != nil || serr != nil || !os.SameFile(mine, there) { // a batch has ended meanwhile and taken it away
			f.Close()
			continue
		}
		j := &journal{path: path, file: f}
		notes := readNotes(f)
		return j, notes.underWay, j.begin(notes, tasks)
	}
}

// tryLock locks the journal. One who looks how the batch stands has it for a moment.
func tryLock(f *os.File) (held bool, err error) {
	for range 5 {
		if held, err = flock.Try(f, flock.Exclusive); held || err != nil {
			return held, err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false, nil
}

// begin says who has the results now. What is known of running tasks is kept.
func (j *journal) begin(n notes, tasks string) error {
	if len(n.underWay) == 0 {
		if err := j.file.Truncate(0); err != nil {
			return err
		}
	} else if n.torn {
		j.buf = append(j.buf, '\n')
	}
	if _, err := j.file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	host, _ := os.Hostname()
	j.add(note{Holder: &Holder{PID: os.Getpid(), Host: host, Started: time.Now().UTC().Truncate(time.Second), Tasks: tasks}})
	j.write()
	return j.err
}

// notes is what a journal says.
type notes struct {
	holder   Holder
	underWay map[string]interrupted
	progress json.RawMessage // the newest
	torn     bool            // the last line is not whole
}

// readNotes reads a journal. A line that is torn, or is none of ours, says nothing.
func readNotes(r io.Reader) notes {
	n := notes{underWay: map[string]interrupted{}}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			n.torn = err != nil
			n.read(line)
		}
		if err != nil {
			return n
		}
	}
}

func (n *notes) read(line []byte) {
	var read note
	if json.Unmarshal(line, &read) != nil {
		return
	}
	switch {
	case read.Holder != nil:
		n.holder, n.progress = *read.Holder, nil
	case read.Start != "":
		hash, _ := ParseHash(read.Hash)
		began := interrupted{hash: hash, offset: read.Offset}
		if before, ok := n.underWay[read.Start]; ok && before.hash == hash {
			began.session, began.paid = before.session, before.paid // it was interrupted before, and has neither a new one nor a result
		}
		n.underWay[read.Start] = began
	case read.End != "":
		delete(n.underWay, read.End)
	case read.Task != "" && read.Session != "":
		if began, ok := n.underWay[read.Task]; ok {
			began.session = read.Session
			n.underWay[read.Task] = began
		}
	case read.Task != "" && read.Paid > 0:
		if began, ok := n.underWay[read.Task]; ok {
			began.paid = read.Paid
			n.underWay[read.Task] = began
		}
	case read.Progress != nil:
		n.progress = read.Progress
	}
}

// start notes that a task begins, by one write together with what waits to be written.
func (j *journal) start(id string, hash Hash, offset int64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.buf = append(j.buf, `{"start":`...)
	j.buf = appendQuoted(j.buf, id)
	j.buf = append(append(append(j.buf, `,"hash":"`...), hash.String()...), `","offset":`...)
	j.buf = append(strconv.AppendInt(j.buf, offset, 10), "}\n"...)
	j.write()
}

// end notes that the result of a task is written. It can wait for the next write: the results say so too.
func (j *journal) end(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.buf = append(appendQuoted(append(j.buf, `{"end":`...), id), "}\n"...)
	if len(j.buf) > 4<<10 {
		j.write()
	}
}

// session notes in which session an agent works on a task.
func (j *journal) session(id, session string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(note{Task: id, Session: session})
	j.write()
}

// paid notes what a task has cost so far that has no result: that is paid whatever becomes of the batch.
func (j *journal) paid(id string, cost float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(note{Task: id, Paid: cost})
	j.write()
}

// progress notes how far the batch is, for those who look at it from elsewhere.
func (j *journal) progress(data json.RawMessage) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(note{Progress: data})
	j.write()
}

func (j *journal) add(n note) {
	data, _ := json.Marshal(n) // everything in it can be encoded
	j.buf = append(append(j.buf, data...), '\n')
}

func (j *journal) write() {
	if len(j.buf) == 0 {
		return
	}
	_, err := j.file.Write(j.buf)
	j.buf = j.buf[:0]
	if j.err == nil {
		j.err = err
	}
}

// close ends the use of the journal.
func (j *journal) close(over bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.write()
	if over {
		os.Remove(j.path) // before it is unlocked: a process that has opened it in the meantime finds that it is another file
	}
	return j.file.Close()
}

// appendQuoted appends a text as JSON. Most ids need no escapes.
func appendQuoted(b []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			data, _ := json.Marshal(text)
			return append(b, data...)
		}
	}
	return append(append(append(b, '"'), text...), '"')
}
