package batch

import (
	"bufio"
	"cmp"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
)

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

// noteOf is the beginning of a note about a task.
func noteOf(id string) (n note) {
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
	case read.Renewing:
		n.renewing = true
	case read.Holder != nil:
		n.holder, n.progress = *read.Holder, nil
	case read.Start != "":
		hash, _ := ParseHash(read.Hash)
		n.start(read.id(), hash, read.Offset)
	case read.End != "":
		delete(n.underWay, read.id())
	case read.Task != "" && read.Session != "":
		n.session(read.id(), read.Session)
	case read.Task != "" && read.Paid > 0:
		n.paid(read.id(), read.Paid)
	case read.Task != "" && read.Output != "":
		hash, _ := ParseHash(read.Output)
		n.output(read.id(), hash, read.Temp)
	case read.Fleet != "":
		n.fleet = read.Fleet
	case read.Progress != nil:
		n.progress = read.Progress
	}
}

func (n *notes) start(id string, hash Hash, offset int64) {
	began := interrupted{hash: hash, offset: offset}
	if before, ok := n.underWay[id]; ok && before.hash == hash {
		began.session, began.paid = before.session, before.paid // it was interrupted before, and has neither a new one nor a result
		began.output, began.temp = before.output, before.temp
	}
	n.underWay[id] = began
}

func (n *notes) session(id, session string) {
	if began, ok := n.underWay[id]; ok {
		began.session = session
		n.underWay[id] = began
	}
}

func (n *notes) paid(id string, cost float64) {
	if began, ok := n.underWay[id]; ok {
		began.paid = cost
		n.underWay[id] = began
	}
}

func (n *notes) output(id string, sum Hash, temp string) {
	if began, ok := n.underWay[id]; ok {
		began.output, began.temp = sum, temp
		n.underWay[id] = began
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
		b = appendStart(b, id, was.hash, was.offset)
		if was.session != "" {
			about := noteOf(id)
			about.Session = was.session
			b = appendNote(b, about)
		}
		if was.paid > 0 {
			about := noteOf(id)
			about.Paid = was.paid
			b = appendNote(b, about)
		}
		if was.output != 0 {
			about := noteOf(id)
			about.Output, about.Temp = was.output.String(), was.temp
			b = appendNote(b, about)
		}
	}
	if n.progress != nil {
		b = appendNote(b, note{Progress: n.progress})
	}
	return b
}

func appendStart(b []byte, id string, hash Hash, offset int64) []byte {
	b = appendID(append(b, `{"start":`...), id)
	b = append(append(append(b, `,"hash":"`...), hash.String()...), `","offset":`...)
	return append(strconv.AppendInt(b, offset, 10), "}\n"...)
}

func appendNote(b []byte, n note) []byte {
	data, _ := json.Marshal(n) // everything in it can be encoded
	return append(append(b, data...), '\n')
}
