package codex

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/safefile"
)

// threadRecord follows the record of one thread for what it says of sub-agents. Codex has two kinds of them, and chooses by the model; only the older kind
// shows in its events too, and neither shows what sub-agents do, nor that they start others. Each is a thread with a record of its own.
type threadRecord struct {
	path    string
	at      int64    // how much of it was read
	working bool     // a turn has begun and not ended
	started []string // the threads that it has started
}

// maxAgentLine is the longest line that is looked at: the end of a turn has the answer in it.
const maxAgentLine = 8 << 20

// agentMarks are in the lines that tell.
var agentMarks = [][]byte{[]byte(`"task_started"`), []byte(`"task_complete"`), []byte(`"turn_aborted"`), []byte(`"SubAgentActivity"`), []byte(`"CollabAgentToolCall"`)}

// read reads on.
func (r *threadRecord) read() {
	if info, err := os.Stat(r.path); err != nil || info.Size() == r.at {
		return
	}
	f, err := safefile.OpenRegular(r.path)
	if err != nil {
		return
	}
	defer f.Close()
	if _, err := f.Seek(r.at, io.SeekStart); err != nil {
		return
	}
	agent.WholeLines(f, maxAgentLine, func(line []byte, size int64) {
		r.at += size
		if slices.ContainsFunc(agentMarks, func(mark []byte) bool { return bytes.Contains(line, mark) }) {
			r.take(line)
		}
	})
}

func (r *threadRecord) take(line []byte) {
	var rec struct {
		Payload struct {
			Type string `json:"type"`
			Item struct {
				Thread string                     `json:"agent_thread_id"` // SubAgentActivity
				States map[string]json.RawMessage `json:"agents_states"`   // CollabAgentToolCall: by thread
			} `json:"item"`
		} `json:"payload"`
	}
	if json.Unmarshal(line, &rec) != nil {
		return
	}
	switch item := rec.Payload.Item; rec.Payload.Type {
	case "task_started":
		r.working = true
	case "task_complete", "turn_aborted":
		r.working = false
	case "item_completed":
		for _, thread := range append(slices.Collect(maps.Keys(item.States)), item.Thread) {
			if agent.IsUUID(thread) && !slices.Contains(r.started, thread) {
				r.started = append(r.started, thread)
			}
		}
	}
}

// subAgents is for [agent.Follower]: it counts those that the thread has started, those that they have, and so on.
func (f *follower) subAgents() (working int) {
	if f.home == "" || !agent.IsUUID(f.Session) {
		return 0
	}
	if f.threads == nil {
		f.threads = map[string]*threadRecord{f.Session: {at: f.from}}
	}
	threads := []string{f.Session}
	for i := 0; i < len(threads); i++ {
		r := f.threads[threads[i]]
		if r == nil {
			r = &threadRecord{working: true} // its record is about to come
			f.threads[threads[i]] = r
		}
		if r.path == "" {
			r.path = findRollout(f.home, threads[i])
		}
		if r.read(); i > 0 && r.working {
			working++
		}
		for _, thread := range r.started {
			if !slices.Contains(threads, thread) {
				threads = append(threads, thread)
			}
		}
	}
	f.Active = f.Active || len(threads) > 1 // to start one may be all that it has done
	return working
}
