package codex

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/safefile"
)

// rollout is what codex's own record of a thread says of one attempt.
type rollout struct {
	version string
	model   string
	calls   agent.ModelCalls // requests that were answered
	failure json.RawMessage  // codex's name for why the turn failed
}

const (
	// lookBack is how much is read of what stood in a record before the attempt: the last sum of it is in there.
	lookBack = 8 << 20
	// maxRecord is the longest line that is looked at; those that count tokens have about a kilobyte.
	maxRecord = 64 << 10
)

// telling are in the lines that say something.
var telling = []string{"_token", `"rate_limits"`, "codex_error_info", `"turn_context"`,
	`"task_started"`, `"task_complete"`, `"turn_aborted"`, `"SubAgentActivity"`, `"CollabAgentToolCall"`}

// findRollout is the path of a thread's record; empty if there is none. It lies in the folder of the day on which the
// thread began, in the local time of that process, and that day is in the id.
func findRollout(home, thread string) string {
	if !agent.IsUUID(thread) {
		return ""
	}
	sessions := filepath.Join(home, "sessions")
	name := "rollout-*-" + strings.ToLower(thread) + ".jsonl"
	if at, ok := begunAt(thread); ok {
		for _, shift := range []int{0, -1, 1} {
			day := at.AddDate(0, 0, shift)
			if found := agent.Glob(sessions, day.Format("2006/01/02"), name); len(found) > 0 {
				return found[0]
			}
		}
	}
	if found := agent.Glob(sessions, "*", "*", "*", name); len(found) > 0 {
		return found[0]
	}
	return ""
}

// begunAt is when a thread began. Its id says so, but for those of old.
func begunAt(thread string) (time.Time, bool) {
	if !agent.IsUUID(thread) || thread[14] != '7' {
		return time.Time{}, false
	}
	ms, err := strconv.ParseInt(thread[:8]+thread[9:13], 16, 64)
	return time.UnixMilli(ms), err == nil
}

// record is a line of the rollout that says something of the attempt. What a request has used is in a token_usage_record,
// in 0.150 only in an event token_count, with the sum and the last; why a turn has failed is in a task_complete; which
// model it is for, in a turn_context. Items tell of sub-agents: of the two kinds that codex has one each.
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
		Limits json.RawMessage `json:"rate_limits"`
		Error  *struct {
			Info json.RawMessage `json:"codex_error_info"`
		} `json:"error"`
		Item struct {
			Thread string                     `json:"agent_thread_id"` // SubAgentActivity
			States map[string]json.RawMessage `json:"agents_states"`   // CollabAgentToolCall: by thread
		} `json:"item"`
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

// rolloutSum adds up the lines of a record.
type rolloutSum struct {
	since            time.Time
	usual            func() string // the model of a call of which the record does not say it; nil if that is not known
	before           bool          // the line was there before the attempt
	requests, events agent.ModelCalls
	last             tokens // the sum that the event before told; each can come several times
	model            string
	failure          json.RawMessage
	limits           quota.Quota // what the counts tell of them, until that was told
	working          bool        // a turn has begun and not ended
	started          []string    // the threads of sub-agents that it has started
}

func (s *rolloutSum) take(line []byte) {
	var rec record
	if json.Unmarshal(line, &rec) != nil {
		return
	}
	ours := !s.before && !rec.Timestamp.Before(s.since)
	if rec.Payload.Type == "token_count" && ours {
		s.limits = quota.Merge(s.limits, windows(rec.Payload.Limits, rec.Timestamp))
	}
	switch item := rec.Payload.Item; {
	case s.before:
	case rec.Payload.Type == "task_started":
		s.working = true
	case rec.Payload.Type == "task_complete", rec.Payload.Type == "turn_aborted":
		s.working = false
	case rec.Payload.Type == "item_completed":
		s.started = slices.AppendSeq(append(s.started, item.Thread), maps.Keys(item.States))
	}
	switch payload := rec.Payload; {
	case rec.Type == "token_usage_record" && ours:
		s.requests = append(s.requests, s.call(payload.Usage))
	case rec.Type == "event_msg" && payload.Type == "token_count" && payload.Info != nil:
		if ours && payload.Info.Total != s.last {
			s.events = append(s.events, s.call(payload.Info.Last))
		}
		s.last = payload.Info.Total
	case rec.Type == "event_msg" && payload.Type == "task_complete" && payload.Error != nil && ours:
		s.failure = payload.Error.Info
	case rec.Type == "turn_context" && ours:
		s.model = payload.Model
	}
}

func (s *rolloutSum) call(used tokens) agent.ModelCall {
	model := s.model
	if model == "" && s.usual != nil {
		model = s.usual()
	}
	return used.call(model)
}

// calls are the requests that were answered: of the two accounts of them the one that a version has.
func (s *rolloutSum) calls() agent.ModelCalls {
	if len(s.requests) > 0 {
		return s.requests
	}
	return s.events
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
func field(line []byte, name string) (text string) {
	if m := regexp.MustCompile(`"` + name + `":("(?:[^"\\]|\\.)*")`).FindSubmatch(line); m != nil {
		json.Unmarshal(m[1], &text) // what is no text stays empty
	}
	return text
}

// rolloutReader reads the record of a thread as it grows.
type rolloutReader struct {
	path    string
	thread  string // of a sub-agent, or that has some
	longest int    // of the lines that are looked at
	from    int64  // how long it was before the attempt
	at      int64  // how much of it was read
	version string
	sum     rolloutSum
	told    int // how many of the calls were told as turns
}

// newRolloutReader returns what reads the part of a record that was written since the attempt's start, when it was so long.
func newRolloutReader(path string, since time.Time, from int64, usual func() string) *rolloutReader {
	// The record's times have no more than milliseconds.
	return &rolloutReader{path: path, longest: maxRecord, from: from, at: -1, sum: rolloutSum{since: since.Truncate(time.Millisecond), usual: usual}}
}

// readRollout reads a record that does not grow any more.
func readRollout(path string, since time.Time, from int64) (rollout, error) {
	r := newRolloutReader(path, since, from, nil)
	err := r.read()
	return r.rollout(), err
}

// rollout is what was read so far.
func (r *rolloutReader) rollout() rollout {
	return rollout{version: r.version, model: r.sum.model, calls: r.sum.calls(), failure: r.sum.failure}
}

// read reads on to the last line that is whole. However much that is, only a line at a time is kept.
func (r *rolloutReader) read() error {
	info, err := os.Stat(r.path)
	if err != nil || r.at == info.Size() {
		return err
	}
	f, err := safefile.OpenRegular(r.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if r.at < 0 {
		head := make([]byte, maxRecord)
		n, _ := io.ReadFull(f, head)
		first, _, _ := bytes.Cut(head[:n], []byte("\n"))
		r.version = field(first, "cli_version")
		if info.Size() < r.from {
			r.from = 0 // it has been written anew
		}
		r.at = max(r.from-lookBack, 0)
	}
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return err
	}
	agent.WholeLines(f, r.longest, func(line []byte, size int64) {
		r.sum.before = r.at < r.from
		r.at += size
		if slices.ContainsFunc(telling, func(mark string) bool { return bytes.Contains(line, []byte(mark)) }) {
			r.sum.take(line)
		}
	})
	return nil
}

// untold are the calls since the last time it was asked.
func (r *rolloutReader) untold() agent.ModelCalls {
	calls := r.sum.calls()
	calls = calls[min(r.told, len(calls)):]
	r.told += len(calls)
	return calls
}
