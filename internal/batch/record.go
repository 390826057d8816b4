package batch

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Begun says how a task was begun.
type Begun string

const (
	New       Begun = "new"
	Resumed   Begun = "resumed"   // in the session in which it ran when the batch was killed or stopped
	Restarted Begun = "restarted" // from its beginning, though it was running then
)

// Record is how a line of the results begins. The result of the run follows, as belay run has it.
type Record struct {
	Task string `json:"task"` // its id
	// Escaped says that the id is not UTF-8, and has \xFC for each byte that is not part of a character.
	Escaped bool    `json:"escaped,omitempty"`
	Hash    string  `json:"hash"`
	State   string  `json:"state"`
	Cost    float64 `json:"cost_usd"`
	Index   int     `json:"index"` // the place of the task among all, from 0
	Line    int     `json:"line,omitempty"`
	Begun   Begun   `json:"begun"`
	Ended   string  `json:"ended"`
	// Reason is why a task was skipped.
	Reason string `json:"reason,omitempty"`
	// Stderr is the end of what a failed command has said there.
	Stderr string `json:"stderr,omitempty"`
	// OutputFile is where the output is, if it has a file of its own.
	OutputFile string `json:"output_file,omitempty"`
	// OutputSum is the fingerprint of that file, by which it is known to be the batch's own.
	OutputSum string `json:"output_sum,omitempty"`
	// Machine is where it ran, in a fleet, and Tries how many machines have begun it, if it was not one.
	Machine string `json:"machine,omitempty"`
	Tries   int    `json:"tries,omitempty"`
	// End is the hash again, and ends the line: what another program has written over the beginning of a line, or between two of them, has another
	// end than its beginning says. Lines of earlier versions have none.
	End string `json:"end,omitempty"`
}

// stamp is the time as results have it.
func stamp(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// endKey is what End follows.
const endKey = `,"end":`

// encode is the record without the end of the line.
func (r Record) encode() ([]byte, error) {
	r.Task, r.Escaped = escapeID(r.Task)
	r.Reason, _ = escapeID(r.Reason)
	if r.Tries == 1 {
		r.Tries = 0
	}
	b := bytes.NewBuffer(make([]byte, 0, 1<<10))
	to := json.NewEncoder(b)
	to.SetEscapeHTML(false)
	err := to.Encode(r)
	return bytes.TrimSuffix(b.Bytes(), []byte(lineEnd)), err
}

// parsed is what is needed of a line of the results to continue.
type parsed struct {
	task  string
	hash  Hash
	state State
	cost  float64
	index int
}

// parseRecord reads a line. One that Belay has written is not decoded as a whole: with a hundred thousand of them the first task must still
// start at once.
func parseRecord(line []byte) (p parsed, ok bool) {
	r, plain := parseStart(line)
	if !plain {
		r = Record{}
		if json.Unmarshal(line, &r) != nil || r.Task == "" || r.End != "" && r.End != r.Hash {
			return p, false
		}
	}
	if r.Escaped {
		r.Task = unescapeID(r.Task)
	}
	hash, ok := ParseHash(r.Hash)
	state, known := parseState(r.State)
	return parsed{r.Task, hash, state, r.Cost, r.Index}, ok && known && endsAs(line, hash)
}

// parseStart reads the beginning of a line as encode makes it, if its id has no escapes.
func parseStart(line []byte) (r Record, ok bool) {
	rest, isTask := bytes.CutPrefix(line, []byte(recordBegin))
	id, rest, hasHash := bytes.Cut(rest, []byte(`","hash":"`))
	hash, rest, hasState := bytes.Cut(rest, []byte(`","state":"`))
	state, rest, hasCost := bytes.Cut(rest, []byte(`","cost_usd":`))
	cost, rest, hasIndex := bytes.Cut(rest, []byte(`,"index":`))
	digits := len(rest) - len(bytes.TrimLeft(rest, "0123456789"))
	r = Record{Task: string(id), Hash: string(hash), State: string(state)}
	var err, nerr error
	r.Cost, err = strconv.ParseFloat(string(cost), 64)
	r.Index, nerr = strconv.Atoi(string(rest[:digits]))
	return r, isTask && hasHash && hasState && hasCost && hasIndex && err == nil && nerr == nil &&
		bytes.HasSuffix(line, []byte("}")) && len(id) > 0 && !bytes.ContainsAny(id, `"\`) && utf8.Valid(id)
}

// endsAs reports whether a line ends as one of a task with that hash does, or as one of an earlier version.
func endsAs(line []byte, hash Hash) bool {
	at := len(line) - len(endKey+`"0123456789abcdef"}`)
	return at < 0 || !bytes.HasPrefix(line[at:], []byte(endKey)) || bytes.HasPrefix(line[at+len(endKey)+1:], []byte(hash.String()))
}

// parseState reads the state of a task that has ended.
func parseState(word string) (State, bool) {
	s := State(slices.Index(states, word))
	return s, s == Done || s == Failed || s == Skipped
}
