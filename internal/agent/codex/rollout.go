package codex

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/safefile"
)

// rollout is what codex's own record of a thread says of one attempt.
type rollout struct {
	version string
	model   string
	used    tokens
	answers int             // requests that were answered
	failure json.RawMessage // codex's name for why the turn failed
}

const (
	// lookBack is how much is read of what stood in a record before the attempt: the last sum of it is in there.
	lookBack = 8 << 20
	// maxRecord is the longest line that is looked at; those that count tokens have about a kilobyte.
	maxRecord = 64 << 10
)

// findRollout is the path of a thread's record; empty if there is none. It lies in the folder of the day on which the
// thread began, in the local time of that process, and that day is in the id.
func findRollout(home, thread string) string {
	sessions := filepath.Join(home, "sessions")
	name := "rollout-*-" + strings.ToLower(thread) + ".jsonl"
	if at, ok := begunAt(thread); ok {
		for _, shift := range []int{0, -1, 1} {
			day := at.AddDate(0, 0, shift)
			if found, _ := filepath.Glob(filepath.Join(escape(sessions), day.Format("2006/01/02"), name)); len(found) > 0 {
				return found[0]
			}
		}
	}
	if found, _ := filepath.Glob(filepath.Join(escape(sessions), "*", "*", "*", name)); len(found) > 0 {
		return found[0]
	}
	return ""
}

// begunAt is when a thread began. Its id says so, but for those of old.
func begunAt(thread string) (time.Time, bool) {
	if !isUUID(thread) || thread[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(thread[:8]+thread[9:13], 16, 64)
	return time.UnixMilli(ms), err == nil
}

// escape makes a path one that Glob takes literally.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// record is a line of the rollout that says something of the attempt. What a request has used is in a token_usage_record,
// in 0.150 only in an event token_count, with the sum and the last; why a turn has failed is in a task_complete; which
// model it is for, in a turn_context.
type record struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type  string `json:"type"`
		Model string `json:"model"`
		Usage tokens `json:"usage"`
		Info  *struct {
			Total tokens `json:"total_token_usage"`
			Last  tokens `json:"last_token_usage"`
		} `json:"info"`
		Error *struct {
			Info json.RawMessage `json:"codex_error_info"`
		} `json:"error"`
	} `json:"payload"`
}

// sizeOf is how long a thread's record is; 0 if there is none.
func sizeOf(home, thread string) int64 {
	if path := findRollout(home, thread); path != "" {
		if info, err := os.Stat(path); err == nil {
			return info.Size()
		}
	}
	return 0
}

// readRollout reads what was written since the attempt's start, when the record was so long. However much that is, only a
// line at a time is kept.
func readRollout(path string, since time.Time, from int64) (r rollout, err error) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	lines := bufio.NewReaderSize(f, maxRecord)
	if first, err := lines.ReadSlice('\n'); err == nil || errors.Is(err, bufio.ErrBufferFull) {
		r.version = field(first, "cli_version")
	}
	if info, err := f.Stat(); err != nil || info.Size() < from {
		from = 0 // it has been written anew
	}
	at, err := f.Seek(max(from-lookBack, 0), io.SeekStart)
	if err != nil {
		return r, err
	}
	lines.Reset(f)
	// The record's times have no more than milliseconds.
	sum := rolloutSum{since: since.Truncate(time.Millisecond)}
	for {
		line, err := lines.ReadSlice('\n')
		sum.before = at < from
		at += int64(len(line))
		for errors.Is(err, bufio.ErrBufferFull) { // a line that is too long
			line, err = lines.ReadSlice('\n')
			at += int64(len(line))
			line = nil
		}
		if bytes.Contains(line, []byte("_token")) || bytes.Contains(line, []byte("codex_error_info")) || bytes.Contains(line, []byte(`"turn_context"`)) {
			sum.take(line)
		}
		if err != nil {
			break
		}
	}
	r.failure, r.model = sum.failure, sum.model
	if r.used, r.answers = sum.requests.tokens, sum.requests.n; r.answers == 0 {
		r.used, r.answers = sum.events.tokens, sum.events.n
	}
	return r, nil
}

// rolloutSum adds up the lines of a record.
type rolloutSum struct {
	since            time.Time
	before           bool // the line was there before the attempt
	requests, events requestTokens
	last             tokens // the sum that the event before told; each can come several times
	model            string
	failure          json.RawMessage
}

func (s *rolloutSum) take(line []byte) {
	var rec record
	if json.Unmarshal(line, &rec) != nil {
		return
	}
	ours := !s.before && !rec.Timestamp.Before(s.since)
	switch payload := rec.Payload; {
	case rec.Type == "token_usage_record" && ours:
		s.requests.count(payload.Usage)
	case rec.Type == "event_msg" && payload.Type == "token_count" && payload.Info != nil:
		if ours && payload.Info.Total != s.last {
			s.events.count(payload.Info.Last)
		}
		s.last = payload.Info.Total
	case rec.Type == "event_msg" && payload.Type == "task_complete" && payload.Error != nil && ours:
		s.failure = payload.Error.Info
	case rec.Type == "turn_context" && ours:
		s.model = payload.Model
	}
}

// requestTokens are the tokens of n requests.
type requestTokens struct {
	tokens
	n int
}

func (c *requestTokens) count(t tokens) {
	c.add(t)
	c.n++
}

func (t *tokens) add(u tokens) {
	t.Input += u.Input
	t.CachedInput += u.CachedInput
	t.CacheWrite += u.CacheWrite
	t.Output += u.Output
}

// directoryOf is where the thread with that record works; empty if that is not known.
func directoryOf(path string) string {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, maxRecord)
	n, _ := io.ReadFull(f, head)
	return field(head[:n], "cwd")
}

// field finds a text in the record's first line, which may be cut off: it holds all instructions too.
func field(line []byte, name string) string {
	_, after, ok := bytes.Cut(line, []byte(`"`+name+`":"`))
	if !ok {
		return ""
	}
	end := bytes.IndexByte(after, '"')
	for end > 0 && after[end-1] == '\\' { // escaped; a path that ends in a backslash is not worth more
		next := bytes.IndexByte(after[end+1:], '"')
		if next < 0 {
			return ""
		}
		end += 1 + next
	}
	var text string
	if end < 0 || json.Unmarshal([]byte(`"`+string(after[:end])+`"`), &text) != nil {
		return ""
	}
	return text
}
