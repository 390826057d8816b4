package claude

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/safefile"
)

// Recall says what claude's own record of a session tells of an attempt that began then and was not followed to its
// end, and when it last wrote something. ok is false if the session has no record. home is where claude keeps it.
//
// A message has its usage in the record once it is whole. What the session has cost is there if claude had the time to say
// so when it was ended; it counts only if it comes after all messages and nothing was being asked.
func Recall(home, session string, since time.Time, prices *price.Table) (a agent.Account, last time.Time, ok bool) {
	path := findTranscript(home, session)
	if path == "" {
		return a, last, false
	}
	m := transcript{since: since.Truncate(time.Millisecond), partial: map[string]bool{}, ledger: ledger{prices: prices}}
	m.read(path)
	for _, helper := range agent.Glob(strings.TrimSuffix(path, ".jsonl"), "subagents", "*.jsonl") {
		m.inSubagent = true
		m.read(helper)
	}
	a = agent.Account{Session: session, Active: len(m.ledger.answers) > 0, Usage: m.ledger.seen().usage(), Estimate: m.ledger.estimate(), Model: m.model, Version: m.version,
		Turns: len(m.ledger.answers), Requests: len(m.ledger.answers)}
	a.Usage.Unknown = m.asking || m.unreadable || len(m.partial) > 0 || a.Requests == 0
	if m.cost != nil && !a.Usage.Unknown && (!m.hasOlder || m.beforeKnown) {
		cost := max(*m.cost-m.before, 0)
		a.Usage.CostUSD = &cost
	}
	return a, m.last, true
}

// findTranscript is the path of a session's record; empty if there is none. It lies in a folder that is named after the
// directory it belongs to, in a way that versions differ in.
func findTranscript(home, session string) string {
	if session == "" || strings.ContainsFunc(session, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		return ""
	}
	path, written := "", time.Time{}
	for _, found := range agent.Glob(home, "projects", "*", session+".jsonl") {
		if info, err := os.Stat(found); err == nil && (path == "" || info.ModTime().After(written)) { // an older one is a copy
			path, written = found, info.ModTime()
		}
	}
	return path
}

// transcript is what a session's record says.
type transcript struct {
	since      time.Time
	inSubagent bool // the record is that of a subagent

	ledger     ledger
	model      string
	version    string
	last       time.Time
	asking     bool            // the model has been asked and has not answered
	unreadable bool            // something cannot be read
	partial    map[string]bool // messages that are not whole

	cost        *float64 // of the session, said after all messages; nil if it was not
	before      float64  // what it had cost before the attempt
	hasOlder    bool     // there are messages from before the attempt
	beforeKnown bool     // what those cost is known
}

// entry is a line of the record, as far as it matters.
type entry struct {
	Type      string    `json:"type"`
	Timestamp time.Time `json:"timestamp"`
	Version   string    `json:"version"`
	Message   struct {
		message
		StopReason *string `json:"stop_reason"`
	} `json:"message"`
	TotalCost   *float64 `json:"totalCostUSD"`
	UnknownCost bool     `json:"hasUnknownModelCost"`
}

// maxEntry is the longest line that is read.
const maxEntry = 32 << 20

func (m *transcript) read(path string) {
	f, err := safefile.OpenRegular(path)
	if err != nil {
		m.unreadable = true
		return
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(make([]byte, 0, 64<<10), maxEntry)
	for lines.Scan() {
		line := lines.Bytes()
		for _, kind := range []string{`"type":"assistant"`, `"type":"user"`, `"type":"api-request"`, `"type":"cost-state"`} {
			if bytes.Contains(line, []byte(kind)) {
				m.take(line)
				break
			}
		}
	}
	m.unreadable = m.unreadable || lines.Err() != nil
}

func (m *transcript) take(line []byte) {
	var e entry
	if agent.Lenient(json.Unmarshal(line, &e)) != nil {
		m.unreadable = true // its last line, as a rule
		return
	}
	ours := !e.Timestamp.Before(m.since)
	if ours && e.Timestamp.After(m.last) {
		m.last = e.Timestamp
	}
	switch e.Type {
	case "api-request", "user": // the former may come too late, and older versions have none
		m.asking = m.asking || !m.inSubagent
	case "assistant":
		m.asking = false
		if e.Message.Model == "<synthetic>" { // claude's own words
			return
		}
		if m.cost = nil; !ours {
			m.hasOlder, m.beforeKnown = true, false
			return
		}
		m.ledger.answer(e.Message.ID, e.Message.Model, e.Message.Usage)
		if delete(m.partial, e.Message.ID); e.Message.StopReason == nil {
			m.partial[e.Message.ID] = true
		}
		if !m.inSubagent {
			m.model, m.version = e.Message.Model, e.Version
		}
	case "cost-state":
		e.TotalCost = price.Credible(e.TotalCost)
		switch {
		case e.UnknownCost || e.TotalCost == nil:
		case len(m.ledger.answers) == 0 && m.hasOlder:
			m.before, m.beforeKnown = *e.TotalCost, true
		default:
			m.cost = e.TotalCost
		}
	}
}
