package profile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/profile"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// recording is a session that a real CLI has recorded against a stand-in that looks at histories: several turns, with calls of tools one after the other and side by side, and an image.
type recording struct {
	cli, home string // the name of its file below the CLI's home, with %s for the session
	format    *history.Format
	lines     []string
	turns     []int // where they begin
	session   string
	// api is the path of its service, and request what the CLI sends there once it has read so many lines.
	api     string
	request func(lines []string) any
}

func recordings(t *testing.T) (list []*recording) {
	for _, r := range []*recording{
		{cli: "claude", home: "projects/-work/%s.jsonl", session: claudeSession, api: "/v1/messages", request: claudeRequest},
		{cli: "codex", home: "sessions/2026/11/19/rollout-2026-11-19T04-30-00-%s.jsonl", session: codexSession, api: "/v1/responses", request: codexRequest},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", r.cli+".jsonl"))
		must.OK(t, err)
		r.format = profile.Find(r.cli).Records
		r.lines = strings.Split(strings.TrimSpace(string(text)), "\n")
		for i, line := range r.lines {
			if begins := map[string]string{"claude": `"type":"queue-operation","operation":"enqueue"`, "codex": `"type":"task_started"`}[r.cli]; strings.Contains(line, begins) {
				r.turns = append(r.turns, i)
			}
		}
		list = append(list, r)
	}
	return list
}

const (
	claudeSession = "11111111-1111-4111-8111-111111111111"
	codexSession  = "01a1f155-1ba5-7561-95cf-599b7aca3878"
)

// claudeRequest: the chain that leads to the newest message which nothing follows, with what branches off it: results of calls side by side.
func claudeRequest(lines []string) any {
	type line struct {
		UUID, ParentUUID, Timestamp string
		IsAPIErrorMessage           bool
		Message                     map[string]any
	}
	all, after := map[string]*line{}, map[string][]*line{}
	var leaf *line
	for _, text := range lines {
		l := &line{}
		if json.Unmarshal([]byte(text), l) != nil || l.UUID == "" || l.IsAPIErrorMessage || all[l.UUID] != nil {
			continue
		}
		all[l.UUID] = l
		after[l.ParentUUID] = append(after[l.ParentUUID], l)
	}
	for _, l := range all {
		if l.Message != nil && len(after[l.UUID]) == 0 && (leaf == nil || l.Timestamp > leaf.Timestamp) {
			leaf = l
		}
	}
	chain := map[*line]bool{}
	var way []*line
	for l := leaf; l != nil && !chain[l]; l = all[l.ParentUUID] {
		chain[l], way = true, append(way, l)
	}
	var messages []any
	say := func(l *line) {
		if l.Message != nil {
			messages = append(messages, map[string]any{"role": l.Message["role"], "content": l.Message["content"]})
		}
	}
	for _, l := range slices.Backward(way) {
		say(l)
		for _, aside := range after[l.UUID] {
			if !chain[aside] && aside.Message["role"] == "user" {
				say(aside)
			}
		}
	}
	return map[string]any{"model": "claude-sonnet-5", "max_tokens": 1000, "messages": append(messages, map[string]string{"role": "user", "content": "go on"})}
}

// codexRequest: the items, one after the other, as far as codex knows their kind.
func codexRequest(lines []string) any {
	var items []any
	for _, text := range lines {
		var l struct {
			Type    string
			Payload map[string]any
		}
		if json.Unmarshal([]byte(text), &l) == nil && l.Type == "response_item" && slices.Contains([]any{"message", "function_call", "function_call_output"}, l.Payload["type"]) {
			items = append(items, l.Payload)
		}
	}
	return map[string]any{"model": "gpt-6.1-sol", "input": append(items, map[string]any{"type": "message", "role": "user", "content": []any{map[string]string{"type": "input_text", "text": "go on"}}})}
}

// service is a stand-in that looks at histories.
type service struct {
	t *testing.T
	*rehearse.API
}

func newService(t *testing.T) service {
	api, err := rehearse.Options{Dir: t.TempDir()}.Start("strict: 200x*")
	must.OK(t, err)
	t.Cleanup(func() { api.Close() })
	return service{t, api}
}

// refusal is what it says against a history; empty if it takes it.
func (s service) refusal(r *recording, lines []string) string {
	body, err := json.Marshal(r.request(lines))
	must.OK(s.t, err)
	res, err := http.Post(s.URL()+r.api, "application/json", bytes.NewReader(body))
	must.OK(s.t, err)
	defer res.Body.Close()
	var answer struct{ Error struct{ Message string } }
	must.OK(s.t, json.NewDecoder(res.Body).Decode(&answer))
	return answer.Error.Message
}

func (r *recording) write(t *testing.T, home string, lines []string) (path string) {
	path = filepath.Join(home, fmt.Sprintf(r.home, r.session))
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

// Whatever becomes of a record, it is mended or refused, and never changed; the service takes what was mended, and of what cannot be, a new session is told.
func TestRecords_RandomDamages(t *testing.T) {
	rounds := faulttest.Count(t, "BELAY_TEST_DAMAGES", 300)
	for _, r := range recordings(t) {
		t.Run(r.cli, func(t *testing.T) {
			api := newService(t)
			random := faulttest.Random(t)
			home := t.TempDir()
			all, late := tally{}, tally{}
			for n := range rounds {
				lines, first := damage(random, slices.Clone(r.lines))
				path := r.write(t, home, lines)
				before, err := os.ReadFile(path)
				must.OK(t, err)
				report, err := history.Examine(r.format, path, r.session, api.refusal(r, lines))
				must.OK(t, err)
				id, err := report.Mend()
				if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
					t.Fatalf("round %d: the record has changed", n)
				}
				taken := false
				if err == nil {
					copied, err := os.ReadFile(r.format.Find(home, id))
					must.OK(t, err)
					why := api.refusal(r, strings.Split(string(copied), "\n"))
					if taken = why == ""; !taken {
						t.Logf("round %d: %s; found %v", n, why, report.Found)
					}
					must.OK(t, os.Remove(r.format.Find(home, id)))
				} else if told, err := report.Summary(); err != nil || told == "" {
					t.Errorf("round %d: a new session is told %q, %v", n, told, err)
				}
				all.count(taken)
				if first >= r.turns[len(r.turns)-1] {
					late.count(taken)
				}
			}
			t.Logf("tried %d damages of a session of %s: %d repaired; %d in the last turn alone: %d repaired", all.of, r.cli, all.repaired, late.of, late.repaired)
			few := all.of < 100 // as in make quick, where one says little
			if !few && all.repaired*100 < all.of*95 || late.repaired*100 < late.of*95 {
				t.Error("too few were repaired")
			}
		})
	}
}

// A record that is written anew between two looks at it is left alone; what goes on at its end is not in the copy.
func TestRecords_Changing(t *testing.T) {
	r := recordings(t)[0]
	home := t.TempDir()
	damaged := append(slices.Clone(r.lines[:20]), "{torn")
	path := r.write(t, home, damaged)
	report, err := history.Examine(r.format, path, r.session, "")
	must.OK(t, err)
	r.write(t, home, append(damaged, r.lines[20:]...))
	id, err := report.Mend()
	must.OK(t, err)
	if text, err := os.ReadFile(r.format.Find(home, id)); err != nil || bytes.Count(text, []byte("\n")) > len(damaged) {
		t.Errorf("the copy has what came later: %v", err)
	}
	r.write(t, home, slices.Insert(damaged, 3, r.lines[5]))
	if _, err := report.Mend(); !errors.Is(err, history.ErrChanged) {
		t.Errorf("it was repaired though it has changed: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}

// tally counts sessions that the service takes again.
type tally struct{ of, repaired int }

func (c *tally) count(repaired bool) {
	if c.of++; repaired {
		c.repaired++
	}
}

// A session that the service takes has nothing that is found: whatever turns it is made of, in whatever order.
func TestRecords_Healthy(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.cli, func(t *testing.T) {
			api := newService(t)
			random := faulttest.Random(t)
			home := t.TempDir()
			for n := range faulttest.Count(t, "BELAY_TEST_HEALTHY", 300) {
				lines := slices.Clone(r.lines[:r.turns[0]])
				last := ""
				for i := range 1 + random.IntN(8) {
					turn := random.IntN(len(r.turns))
					end := append(slices.Clone(r.turns), len(r.lines))[turn+1]
					lines, last = r.appendTurn(lines, r.lines[r.turns[turn]:end], i, last)
				}
				path := r.write(t, home, lines)
				if n%10 == 0 {
					if why := api.refusal(r, lines); why != "" {
						t.Fatalf("session %d is refused: %s", n, why)
					}
				}
				report, err := history.Examine(r.format, path, r.session, "")
				if err != nil || len(report.Found) > 0 || report.Broken {
					t.Fatalf("session %d: %v, %v", n, report.Found, err)
				}
			}
		})
	}
}

// ids are those in a line that must be there once.
var ids = regexp.MustCompile(`"(uuid|parentUuid|id|call_id|tool_use_id)":"([^"]*)"`)

// appendTurn adds a turn as the n-th, with ids of its own, behind the message with that id. It returns the last one of its own.
func (r *recording) appendTurn(lines, turn []string, n int, behind string) (all []string, last string) {
	own := map[string]bool{}
	for _, line := range turn {
		line = ids.ReplaceAllStringFunc(line, func(field string) string {
			m := ids.FindStringSubmatch(field)
			id := fmt.Sprintf("%s_%d", m[2], n)
			if m[1] == "parentUuid" && !own[id] {
				id = behind
			}
			own[id] = true
			return fmt.Sprintf("%q:%q", m[1], id)
		})
		if behind == "" {
			line = strings.Replace(line, `"parentUuid":""`, `"parentUuid":null`, 1)
		}
		if m := regexp.MustCompile(`"uuid":"([^"]*)"`).FindStringSubmatch(line); m != nil {
			last = m[1]
		}
		lines = append(lines, line)
	}
	return lines, last
}

// damage cuts a record, flips bytes in it, or doubles, swaps or removes lines. first is the first line that it touches.
func damage(random *rand.Rand, lines []string) (damaged []string, first int) {
	i := random.IntN(len(lines))
	switch random.IntN(5) {
	case 0:
		return append(lines[:i:i], lines[i][:random.IntN(len(lines[i]))]), i
	case 1:
		line := []byte(lines[i])
		for range 1 + random.IntN(3) {
			line[random.IntN(len(line))] ^= byte(1 << random.IntN(8))
		}
		lines[i] = string(line)
		return lines, i
	case 2:
		return slices.Insert(lines, i, lines[i]), i
	case 3:
		j := random.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
		return lines, min(i, j)
	}
	return slices.Delete(lines, i, i+1), i
}
