package batch

import (
	"bytes"
	"encoding/json"
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
	Task  string  `json:"task"` // its id
	Hash  string  `json:"hash"`
	State string  `json:"state"`
	Cost  float64 `json:"cost_usd"`
	Index int     `json:"index"` // the place of the task among all, from 0
	Line  int     `json:"line,omitempty"`
	Begun Begun   `json:"begun"`
	Ended string  `json:"ended"`
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
	// Escaped says that the id is not UTF-8, and has \xFC for each byte that is not part of a character.
	Escaped bool `json:"escaped,omitempty"`
	// End is the hash again, and ends the line: what another program has written over the beginning of a line, or between two of them, has another
	// end than its beginning says. Lines of earlier versions have none.
	End string `json:"end,omitempty"`
}

// stamp is the time as results have it.
func stamp(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// endKey is what End follows.
const endKey = `,"end":`

func appendEnd(b []byte, hash string) []byte { return appendQuoted(append(b, endKey...), hash) }

// append appends the record without the end of the line. It is written by hand: a command may take less time than encoding/json does.
func (r *Record) append(b []byte) []byte {
	text := func(key, value string, always bool) {
		if value != "" || always {
			b = appendQuoted(append(b, key...), value)
		}
	}
	b = appendID(append(b, `{"task":`...), r.Task)
	text(`,"hash":`, r.Hash, true)
	text(`,"state":`, r.State, true)
	b = strconv.AppendFloat(append(b, `,"cost_usd":`...), r.Cost, 'f', -1, 64)
	b = strconv.AppendInt(append(b, `,"index":`...), int64(r.Index), 10)
	if r.Line > 0 {
		b = strconv.AppendInt(append(b, `,"line":`...), int64(r.Line), 10)
	}
	text(`,"begun":`, string(r.Begun), true)
	text(`,"ended":`, r.Ended, true)
	reason, _ := escapeID(r.Reason)
	text(`,"reason":`, reason, false)
	text(`,"stderr":`, r.Stderr, false)
	text(`,"output_file":`, r.OutputFile, false)
	text(`,"output_sum":`, r.OutputSum, false)
	text(`,"machine":`, r.Machine, false)
	if r.Tries > 1 {
		b = strconv.AppendInt(append(b, `,"tries":`...), int64(r.Tries), 10)
	}
	return b
}

// parsed is what is needed of a line of the results to continue.
type parsed struct {
	task  string
	hash  Hash
	state State
	cost  float64
	index int
}

// parseRecord reads the beginning of a line. A line that Belay has written is not decoded as a whole: with a hundred thousand of
// them the first task must still start at once.
func parseRecord(line []byte) (p parsed, ok bool) {
	if p, ok = parseStart(line); ok {
		return p, endsAs(line, p.hash)
	}
	var r Record
	if json.Unmarshal(line, &r) != nil || r.Task == "" || r.End != "" && r.End != r.Hash {
		return p, false
	}
	if r.Escaped {
		r.Task = unescapeID(r.Task)
	}
	hash, ok := ParseHash(r.Hash)
	state, known := parseState(r.State)
	return parsed{r.Task, hash, state, r.Cost, r.Index}, ok && known
}

// endsAs reports whether a line ends as one of a task with that hash does, or as one of an earlier version.
func endsAs(line []byte, hash Hash) bool {
	at := len(line) - len(endKey+`"0123456789abcdef"}`)
	return at < 0 || !bytes.HasPrefix(line[at:], []byte(endKey)) || bytes.HasPrefix(line[at+len(endKey)+1:], []byte(hash.String()))
}

// parseStart reads a line that begins as encode makes it.
func parseStart(line []byte) (p parsed, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(`{"task":"`))
	if !ok || len(line) == 0 || line[len(line)-1] != '}' {
		return p, false
	}
	end := bytes.IndexByte(rest, '"')
	if end < 1 || bytes.IndexByte(rest[:end], '\\') >= 0 || !utf8.Valid(rest[:end]) {
		return p, false
	}
	task := rest[:end]
	rest, ok = bytes.CutPrefix(rest[end:], []byte(`","hash":"`))
	if !ok || len(rest) < 16 {
		return p, false
	}
	if p.hash, ok = ParseHash(string(rest[:16])); !ok {
		return p, false
	}
	if rest, ok = bytes.CutPrefix(rest[16:], []byte(`","state":"`)); !ok {
		return p, false
	}
	word, rest, ok := bytes.Cut(rest, []byte(`","cost_usd":`))
	if !ok {
		return p, false
	}
	if p.state, ok = parseState(string(word)); !ok {
		return p, false
	}
	number, rest, ok := bytes.Cut(rest, []byte(`,"index":`))
	if !ok {
		return p, false
	}
	cost, err := strconv.ParseFloat(string(number), 64)
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	index, nerr := strconv.Atoi(string(rest[:digits]))
	p.task, p.cost, p.index = string(task), cost, index
	return p, err == nil && nerr == nil
}

func parseState(word string) (State, bool) {
	for _, s := range []State{Done, Failed, Skipped} {
		if s.String() == word {
			return s, true
		}
	}
	return Waiting, false
}
