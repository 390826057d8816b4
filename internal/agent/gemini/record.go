package gemini

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
)

// gemini keeps a record of each session, below its home: tmp/<project>/chats/session-<when>-<first part of the id>.jsonl. A
// message of the model is there as soon as it is whole, with what it has used, and again, under the same id, when its tools
// have run. Versions before 0.45 or so write one object, anew each time (.json).

// findRecord is the path of a session's record; empty if there is none.
func findRecord(home, session string) string {
	if home == "" || !agent.IsUUID(session) {
		return ""
	}
	for _, ending := range []string{".jsonl", ".json"} {
		for _, path := range agent.Glob(home, "tmp", "*", "chats", "session-*-"+session[:8]+ending) {
			if isRecordOf(path, session) {
				return path
			}
		}
	}
	return ""
}

// lastRecord is when a record of any session was last written to; zero if there is none.
func lastRecord(home string) (last time.Time) {
	if home == "" {
		return last
	}
	for _, path := range agent.Glob(home, "tmp", "*", "chats", "session-*.json*") {
		if at := modified(path); at.After(last) {
			last = at
		}
	}
	return last
}

// modified is when a file was last written to; zero if there is none.
func modified(path string) time.Time {
	info, err := os.Stat(path)
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// isRecordOf reports whether a record belongs to a session, and not to another whose id begins in the same way.
func isRecordOf(path, session string) bool {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4<<10)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(session))
}

// recordReader reads a record as it grows.
type recordReader struct {
	path  string
	since time.Time
	at    int64 // up to where it was read
	seen  map[string]bool
	calls agent.ModelCalls
	used  tokens // by them
	told  int    // how many of them were told of
	asked bool
	cut   int    // streams of answers that ended too soon, since the last that did not; what was used comes with the end
	last  string // the message of the last of them
}

func newRecordReader(path string, since time.Time) *recordReader {
	return &recordReader{path: path, since: since.Truncate(time.Millisecond), seen: map[string]bool{}}
}

// maxEntry is the longest line that is read.
const maxEntry = 32 << 20

// read reads what is new.
func (r *recordReader) read() error {
	f, err := safefile.OpenRegular(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if strings.HasSuffix(r.path, ".json") {
		return r.readObject(f)
	}
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	agent.WholeLines(f, maxEntry, func(line []byte, size int64) {
		r.at += size
		if bytes.Contains(line, []byte(`"type":"gemini"`)) || bytes.Contains(line, []byte(`"type":"user"`)) {
			var m recordedMessage
			if agent.Lenient(json.Unmarshal(line, &m)) == nil {
				r.take(m)
			}
		}
	})
	return nil
}

// readObject reads a record that is one object.
func (r *recordReader) readObject(f *os.File) error {
	var all struct {
		Messages []recordedMessage `json:"messages"`
	}
	if err := agent.Lenient(json.NewDecoder(io.LimitReader(f, maxEntry)).Decode(&all)); err != nil {
		return err
	}
	r.cut = 0
	for _, m := range all.Messages {
		r.take(m)
	}
	return nil
}

// recordedMessage is a message of a record, as far as it matters.
type recordedMessage struct {
	ID        string    `json:"id"`
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Model     string    `json:"model"`
	Tokens    *struct {
		Input  int64 `json:"input"`
		Output int64 `json:"output"`
		Cached int64 `json:"cached"`
		Total  int64 `json:"total"`
	} `json:"tokens"`
	ToolCalls []json.RawMessage `json:"toolCalls"`
}

func (r *recordReader) take(m recordedMessage) {
	if m.Timestamp.Before(r.since) {
		return
	}
	switch {
	case m.Type == "user":
		r.asked, r.cut = true, 0
		return
	case m.Type != Name:
		return
	case m.Tokens != nil, len(m.ToolCalls) > 0:
		r.cut = 0
	case m.ID != r.last:
		r.cut, r.last = r.cut+1, m.ID
	}
	if m.Tokens == nil || r.seen[m.ID] {
		return
	}
	r.seen[m.ID] = true
	used := tokens{Prompt: m.Tokens.Input, Candidates: m.Tokens.Output, Cached: m.Tokens.Cached, Total: m.Tokens.Total}
	r.calls, r.used = append(r.calls, used.call(m.Model)), r.used.add(used)
}

// untold are the calls that were not told of yet.
func (r *recordReader) untold() agent.ModelCalls {
	calls := r.calls[r.told:]
	r.told = len(r.calls)
	return calls
}

// Recall says what gemini's own record of a session tells of an attempt that began then and was not followed to its end, and
// when it last wrote something. ok is false if the session has no record. home is where gemini keeps it.
func Recall(home, session string, since time.Time, prices *price.Table) (a agent.Account, last time.Time, ok bool) {
	path := findRecord(home, session)
	if path == "" {
		return a, last, false
	}
	info, err := os.Stat(path)
	if err != nil {
		return a, last, false
	}
	r := newRecordReader(path, since)
	if r.read() != nil {
		return a, last, false
	}
	a = agent.Account{Session: session, Active: len(r.calls) > 0, Usage: r.calls.Usage(), Estimate: r.calls.Cost(prices), Requests: len(r.calls)}
	if n := len(r.calls); n > 0 {
		a.Model = r.calls[n-1].Model
	}
	a.Usage.Unknown = len(r.calls) == 0
	return a, info.ModTime(), true
}
