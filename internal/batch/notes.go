package batch

import (
	"bufio"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/belay-run/belay/internal/batch/tasks"
)

// Holder is the batch that has the results.
type Holder struct {
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
	Started time.Time `json:"started"`
	Tasks   string    `json:"tasks"`
}

// InUse says that another batch has the results.
type InUse struct {
	Path   string
	Holder Holder
}

func (e *InUse) Error() string {
	h := e.Holder
	if h.PID == 0 {
		return fmt.Sprintf("%s is in use by another batch", e.Path)
	}
	return fmt.Sprintf("%s is in use by another batch: process %d on %s, started %s", e.Path, h.PID, h.Host, h.Started.Local().Format(time.DateTime))
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
	Fleet    string          `json:"fleet,omitempty"`    // the batch as a fleet knows it
	Output   string          `json:"output,omitempty"`   // the fingerprint of what is about to be written to the file of the task's output
	Temp     string          `json:"temp,omitempty"`     // its name until it is whole
	Escaped  bool            `json:"escaped,omitempty"`  // the id is one that escapeID has made
	Renewing bool            `json:"renewing,omitempty"` // the file that takes the place of this one is made next
}

// id is the id of the task that a note is about, as the tasks have it.
func (n *note) id() string {
	id := cmp.Or(n.Start, n.End, n.Task)
	if n.Escaped {
		return unescapeID(id)
	}
	return id
}

// startOf is the note that a task begins. A result that begins before the offset is of an earlier start.
func startOf(id string, hash Hash, offset int64) note {
	text, escaped := escapeID(id)
	return note{Start: text, Escaped: escaped, Hash: hash.String(), Offset: offset}
}

// endOf is the note that the result of a task is written.
func endOf(id string) (n note) {
	n.End, n.Escaped = escapeID(id)
	return n
}

// about makes a note one about a task that runs.
func (n note) about(id string) note {
	n.Task, n.Escaped = escapeID(id)
	return n
}

// interrupted is a task that was running when the batch before ended.
type interrupted struct {
	hash    Hash
	session string  // in which an agent was working on it; empty if that is not known
	paid    float64 // what it had cost by then, as far as that was told
	offset  int64   // a result that begins before that is of an earlier start
	output  Hash    // of what was about to be written to the file of its output; 0 if nothing was
	temp    string  // the name of that file until it is whole
}

// notes is what a journal says.
type notes struct {
	holder   Holder
	underWay map[string]interrupted
	progress json.RawMessage // the newest
	fleet    string          // the name of the batch in a fleet; empty if it has none
	torn     bool            // the last line is not whole
	renewing bool            // the journal was about to be written anew, see renew
}

// readNotes reads a journal. A line that is torn, or is none of ours, says nothing.
func readNotes(r io.Reader) notes {
	n := notes{underWay: map[string]interrupted{}}
	in := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 0 {
			var read note
			if n.torn = err != nil; json.Unmarshal(line, &read) == nil {
				n.take(&read)
			}
		}
		if err != nil {
			return n
		}
	}
}

// take takes in what a note says.
func (n *notes) take(said *note) {
	id := said.id()
	was, isUnderWay := n.underWay[id]
	switch {
	case said.Renewing:
		n.renewing = true
	case said.Holder != nil:
		n.holder, n.progress = *said.Holder, nil
	case said.Start != "":
		hash, _ := tasks.ParseHash(said.Hash)
		if was.hash != hash { // else it was interrupted before, and has neither a new session nor a result
			was = interrupted{hash: hash}
		}
		was.offset = said.Offset
		n.underWay[id] = was
	case said.End != "":
		delete(n.underWay, id)
	case said.Task != "" && isUnderWay:
		was.session = cmp.Or(said.Session, was.session)
		if said.Paid > 0 {
			was.paid = said.Paid
		}
		if output, _ := tasks.ParseHash(said.Output); output != 0 {
			was.output, was.temp = output, said.Temp
		}
		n.underWay[id] = was
	case said.Fleet != "":
		n.fleet = said.Fleet
	case said.Progress != nil:
		n.progress = said.Progress
	}
}

// encode is a journal that says the same, and nothing else.
func (n *notes) encode() (b []byte) {
	b = appendNote(b, note{Holder: &n.holder})
	if n.fleet != "" {
		b = appendNote(b, note{Fleet: n.fleet})
	}
	for _, id := range slices.Sorted(maps.Keys(n.underWay)) {
		was := n.underWay[id]
		b = appendNote(b, startOf(id, was.hash, was.offset))
		about := note{Session: was.session, Paid: was.paid}
		if was.output != 0 {
			about.Output, about.Temp = was.output.String(), was.temp
		}
		b = appendNote(b, about.about(id))
	}
	if n.progress != nil {
		b = appendNote(b, note{Progress: n.progress})
	}
	return b
}

func appendNote(b []byte, n note) []byte {
	data, _ := json.Marshal(n) // everything in it can be encoded
	return append(append(b, data...), '\n')
}
