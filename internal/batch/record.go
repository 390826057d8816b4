package batch

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/batch/tasks"
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
	// Command is the fingerprint of the command of the batch, and stands before End; 0 where there is none. Lines of earlier versions have none.
	Command Hash `json:"-"`
	// End is the hash again, and ends the line: what another program has written over the beginning of a line, or between two of them, has another
	// end than its beginning says. Lines of earlier versions have none.
	End string `json:"end,omitempty"`
}

// stamp is the time as results have it.
func stamp(now time.Time) string { return now.UTC().Format(time.RFC3339) }

// How a line of results begins and ends.
const (
	recordBegin = `{"task":"`
	lineEnd     = "}\n"
)

// What Command and End follow.
const (
	commandKey = `,"command_hash":`
	endKey     = `,"end":`
)

// ending is what follows the result of the run.
func (r *Record) ending() string {
	end := endKey + `"` + r.Hash + `"` + lineEnd
	if r.Command != 0 {
		end = commandKey + `"` + r.Command.String() + `"` + end
	}
	return end
}

// commandOf is the command whose result a line is; 0 if that is not known.
func commandOf(line []byte) Hash {
	at := len(line) - len(commandKey+`"0123456789abcdef"`+endKey+`"0123456789abcdef"}`)
	if at < 0 || !bytes.HasPrefix(line[at:], []byte(commandKey)) {
		return 0
	}
	at += len(commandKey) + 1
	command, _ := tasks.ParseHash(string(line[at : at+16]))
	return command
}

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

	command Hash
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
	hash, ok := tasks.ParseHash(r.Hash)
	state, known := parseState(r.State)
	return parsed{r.Task, hash, state, r.Cost, r.Index, commandOf(line)}, ok && known && endsAs(line, hash)
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

// scan reads all results of a file. It counts the lines that are none, and returns what is behind the last end of a line.
func scan(f io.ReaderAt, each func(offset int64, line []byte, r parsed)) (damaged int, tail []byte, err error) {
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, math.MaxInt64), 256<<10)
	var offset int64
	for {
		line, err := in.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return damaged, line, nil
		case err != nil:
			return damaged, nil, err
		}
		if whole := bytes.TrimRight(line, "\r\n"); len(whole) > 0 {
			if r, ok := parseRecord(whole); ok {
				each(offset, whole, r)
			} else {
				damaged++
			}
		}
		offset += int64(len(line))
	}
}

// isLedger reports whether a file holds results: whether it is empty, or has one before anything of another kind. isKnown says that a batch has
// left its journal beside it; then NUL bytes alone, or lines that only begin as results do, are what a power failure or another program has left of
// them.
func isLedger(f io.ReaderAt, isKnown bool) bool {
	const enough = 1 << 20 // that is damaged, before the first result
	in := bufio.NewReaderSize(io.NewSectionReader(f, 0, enough), 64<<10)
	blank, nuls := true, false
	more, _ := f.ReadAt(make([]byte, 1), enough)
	for {
		line, err := in.ReadSlice('\n')
		text := bytes.Trim(line, " \t\r\n\x00")
		isRecord := false
		if len(text) > 0 {
			_, isRecord = parseRecord(text)
		}
		switch {
		case isRecord && err == nil, errors.Is(err, bufio.ErrBufferFull) && isTorn(text) && bytes.Contains(text, []byte(`"state":"`)):
			return true
		case len(text) == 0:
			nuls = nuls || bytes.IndexByte(line, 0) >= 0
		case errors.Is(err, io.EOF):
			return more == 0 && (isRecord || blank && isTorn(text))
		case !bytes.HasPrefix(text, []byte(recordBegin)):
			return false
		default:
			blank = blank && isKnown && isTorn(text)
		}
		if err != nil {
			return errors.Is(err, io.EOF) && more == 0 && blank && (!nuls || isKnown)
		}
	}
}

// isTorn reports whether a line is the beginning of one that Belay has written, or what a power failure leaves of it. Anything else was written by
// another program, and is not cut.
func isTorn(line []byte) bool {
	text := string(bytes.Trim(line, "\x00"))
	if len(text) <= len(recordBegin) {
		return strings.HasPrefix(recordBegin, text)
	}
	rest, ok := strings.CutPrefix(text, recordBegin)
	if !ok {
		return false
	}
	for i := 0; i < len(rest); i++ {
		switch rest[i] {
		case '\\':
			i++
		case '"':
			rest = rest[i+1:]
			const hash, escaped = `,"hash":"`, `,"escaped":true,"hash":"`
			return strings.HasPrefix(rest, hash) || strings.HasPrefix(hash, rest) || strings.HasPrefix(rest, escaped) || strings.HasPrefix(escaped, rest)
		}
	}
	return true // in the middle of the id
}

// withoutCost is a line of results that says that the task has cost nothing.
func withoutCost(line []byte) []byte {
	const cost, index = `,"cost_usd":`, `,"index":`
	from := bytes.Index(line, []byte(cost)) + len(cost)
	to := bytes.Index(line, []byte(index))
	if from < len(cost) || to < from {
		return line // by another program, which had its own order
	}
	return append(append(bytes.Clone(line[:from]), '0'), line[to:]...)
}
