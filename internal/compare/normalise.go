//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
)

// normaliser takes out of an outcome what is different each time: ids, process ids, times, durations and paths.
type normaliser struct {
	waits waits
	paths *strings.Replacer
	ids   map[string]string
}

func newNormaliser(s *script, dir, bin string) *normaliser {
	return &normaliser{waits: s.Waits, paths: strings.NewReplacer(dir, "<dir>", bin, "<bin>"), ids: map[string]string{}}
}

var (
	uuid     = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`)
	stamp    = regexp.MustCompile(`\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?`)
	clock    = regexp.MustCompile(`\b\d\d?:\d\d(:\d\d)?( ?[AP]M)?\b`)
	duration = regexp.MustCompile(`\b(\d+(\.\d+)?(µs|ms|h|m|s)){1,3}\b|\b\d+(\.\d+)? (ms|s|min|h)\b`)
	pid      = regexp.MustCompile(`\b(pid|process|left running:|had left:) \d+`)
	others   = regexp.MustCompile(`, \d+ \(compare\)`) // further processes that were left
	shortID  = regexp.MustCompile(`\brun [0-9a-f]{8}\b`)
	gateHash = regexp.MustCompile(`\b((claude|codex|gh):[\w.]+):[0-9a-f]{8}\b`)
)

// text takes out what no text may differ in: paths and ids.
func (n *normaliser) text(s string) string {
	s = n.paths.Replace(s)
	s = uuid.ReplaceAllStringFunc(s, n.id)
	return gateHash.ReplaceAllString(s, "$1:<account>") // it is made of a path
}

// id names an id by the order in which it came up. Those of the script stay.
func (n *normaliser) id(id string) string {
	if strings.HasPrefix(id, sessionID(0, 0)[:18]) {
		return id
	}
	if n.ids[id] == "" {
		n.ids[id] = fmt.Sprintf("<id %d>", len(n.ids)+1)
	}
	return n.ids[id]
}

// printed is what a command has printed, or belay in its place.
func (n *normaliser) printed(s string) string {
	if strings.HasPrefix(s, "Status: ") { // --output-format text
		return n.said(s)
	}
	return stamp.ReplaceAllString(n.text(s), "<time>")
}

// said is what belay says to people.
func (n *normaliser) said(s string) string {
	s = stamp.ReplaceAllString(n.text(s), "<time>")
	s = clock.ReplaceAllString(s, "<time>")
	s = duration.ReplaceAllString(s, "<duration>")
	s = shortID.ReplaceAllString(s, "run <id>")
	return others.ReplaceAllString(pid.ReplaceAllString(s, "$1 <pid>"), ", <pid> (compare)")
}

// durations are the fields that hold one. It depends on the machine; that there is one does not.
var durations = strings.Fields(`wait_time inner_wait response_time first_token time start total_wait_time duration_ms
	wait_ms inner_wait_ms planned_wait_ms response_ms first_token_ms`)

// optionalDurations are left out if they are zero, which depends on the machine too.
var optionalDurations = strings.Fields(`gate_wait gate_wait_ms cpu_time cpu_ms`)

// minWait is the least wait that counts, in seconds. No script has a delay near it.
const minWait = 0.015

// value takes a value of JSON apart. of is the object that it stands in. Nil means that it does not count.
func (n *normaliser) value(name string, v any, of map[string]any) any {
	switch v := v.(type) {
	case string:
		return n.word(name, v, of)
	case json.Number:
		return n.number(name, v)
	case []any:
		if name == "left_running" { // in a result they are process ids
			return fmt.Sprintf("<%d processes>", len(v))
		}
		list := make([]any, 0, len(v))
		for _, one := range v {
			list = append(list, n.value(name, one, nil))
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for _, key := range slices.Sorted(maps.Keys(v)) { // ids are named in order
			if value := n.value(key, v[key], v); value != nil || v[key] == nil {
				object[key] = value
			}
		}
		return object
	}
	return v
}

func (n *normaliser) word(name, s string, of map[string]any) any {
	switch name {
	case "retry_at", "reset_at", "until", "not_before":
		return distance(s, of)
	case "timestamp", "started", "since", "failed_at":
		return "<time>"
	case "error", "errors", "error_message", "message", "evidence", "reason", "text":
		return n.said(s)
	}
	return n.printed(s)
}

func (n *normaliser) number(name string, v json.Number) any {
	f, err := v.Float64()
	switch {
	case err != nil:
		return v
	case name == "pid":
		return "<pid>"
	case slices.Contains(optionalDurations, name):
		return nil
	case name == "spent": // of a retry budget, which fills up by and by
		return math.Round(f)
	case name == "wait_time" && n.waits == planned:
		return v
	case (name == "wait_time" || name == "total_wait_time") && (f < minWait || n.waits == random):
		return nil
	case slices.Contains(durations, name):
		return "<duration>"
	case name == "timestamp", name == "generation": // of a breaker, which is the time
		return "<time>"
	}
	return v
}

// distance says roughly how far a time lies ahead of the moment at which it was said.
func distance(s string, of map[string]any) any {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return s
	}
	from := time.Now()
	if said, ok := of["timestamp"].(string); ok {
		if t, err := time.Parse(time.RFC3339, said); err == nil {
			from = t
		}
	}
	switch d := at.Sub(from); {
	case d < 3500*time.Millisecond: // an odd number: limits are of whole seconds
		return "<now>"
	case d < 2*time.Minute:
		return "<a minute>"
	case d < 30*time.Minute:
		return "<minutes>"
	case d < 26*time.Hour:
		return "<hours>"
	}
	return "<days>"
}
