package engine_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// aHome is a home of claude with the record of a session: a tool call without its result, or an answer that used so many tokens.
func aHome(t *testing.T, session, last string) (home string) {
	home = t.TempDir()
	path := filepath.Join(home, "projects", "-work", session+".jsonl")
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(`{"type":"user","uuid":"a0000000-0000-4000-8000-000000000001","timestamp":"2026-11-19T01:00:00Z","version":"2.0.77","message":{"role":"user","content":"mend the roof"}}
{"type":"assistant","uuid":"a0000000-0000-4000-8000-000000000002","parentUuid":"a0000000-0000-4000-8000-000000000001","timestamp":"2026-11-19T01:00:01Z","version":"2.0.77","message":{"id":"msg_1","role":"assistant",`+last+`}}
`), 0o600))
	return home
}

const (
	anOrphan = `"model":"claude-opus-4-8","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"climb up"}}]`
	anAnswer = `"model":"claude-opus-4-8","content":[{"type":"text","text":"I am up"}],"usage":{"input_tokens":1000,"cache_read_input_tokens":400000,"output_tokens":10}`
)

// A session that the service rejects ends the run, unless it was asked for more: a repaired copy goes on, or else a new session that is told what was done.
func TestTurn_SessionBroken(t *testing.T) {
	broken := step{verdict.SessionBroken, agent.Account{Session: otherSession}}
	fine := step{verdict.OK, agent.Account{Session: oneSession, Active: true}}
	for name, tt := range map[string]struct {
		resume belaytype.Resume
		last   string
		steps  []step
		turns  []string
		class  verdict.Class
		told   string // to the last turn
	}{
		"unasked":               {belaytype.Resume{Session: otherSession}, anOrphan, []step{broken}, []string{"resume 1"}, verdict.SessionBroken, ""},
		"repaired":              {belaytype.Resume{Session: otherSession, HandOver: true}, anOrphan, []step{broken, fine}, []string{"resume 1", "resume 1"}, verdict.OK, ""},
		"or new":                {belaytype.Resume{Session: otherSession, OrNew: true}, anOrphan, []step{broken, fine}, []string{"resume 1", "resume 1"}, verdict.OK, ""},
		"rejected again":        {belaytype.Resume{Session: otherSession, HandOver: true}, anOrphan, []step{broken, broken, fine}, []string{"resume 1", "resume 1", "fresh"}, verdict.OK, "climb up"},
		"nothing to repair":     {belaytype.Resume{Session: otherSession, HandOver: true}, anAnswer, []step{broken, fine}, []string{"resume 1", "fresh"}, verdict.OK, "I am up"},
		"rejected for ever":     {belaytype.Resume{Session: otherSession, HandOver: true}, anAnswer, []step{broken, broken}, []string{"resume 1", "fresh"}, verdict.SessionBroken, "mend the roof"},
		"in a retry":            {belaytype.Resume{HandOver: true}, anOrphan, []step{{verdict.Overloaded, agent.Account{Session: otherSession, Active: true}}, broken, fine}, []string{"fresh", "continue 1", "continue 1"}, verdict.OK, ""},
		"an unreadable record":  {belaytype.Resume{Session: otherSession, HandOver: true}, anAnswer, []step{{verdict.SessionNotFound, agent.Account{}}, fine}, []string{"resume 1", "fresh"}, verdict.OK, "I am up"},
		"too dear":              {belaytype.Resume{Session: otherSession, HandOver: true, MaxCost: 1}, anAnswer, []step{fine}, []string{"fresh"}, verdict.OK, "I am up"},
		"cheap enough":          {belaytype.Resume{Session: otherSession, HandOver: true, MaxCost: 100}, anAnswer, []step{fine}, []string{"resume 1"}, verdict.OK, ""},
		"too long for a resume": {belaytype.Resume{Session: otherSession, HandOver: true}, anAnswer, []step{{verdict.TooLarge, broken.account}, fine}, []string{"resume 1", "fresh"}, verdict.OK, "I am up"},
	} {
		t.Run(name, func(t *testing.T) {
			home := aHome(t, otherSession, tt.last)
			path := filepath.Join(home, "projects", "-work", otherSession+".jsonl")
			before, err := os.ReadFile(path)
			must.OK(t, err)
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.Date(2026, 11, 19, 9, 0, 0, 0, time.UTC)))
				r := engine.Runner{Resume: tt.resume}
				turns := converse(&r, agent.Info{Home: home}, tt.steps...)
				result, _ := r.Run(t.Context(), belaytype.Command{Args: []string{"claude", "-p"}})
				if result.Verdict.Class != tt.class || !slices.Equal(shown(*turns), tt.turns) {
					t.Errorf("%s after %q", result.Verdict.Class, shown(*turns))
				}
				last := (*turns)[len(*turns)-1]
				if tt.told != "" && (last.Prompt == nil || !strings.Contains(*last.Prompt, tt.told)) {
					t.Errorf("the last turn was told %v", last.Prompt)
				}
				rescued := len(tt.turns) > 1 || tt.told != ""
				if (result.SessionRepaired+result.SessionHandedOver != "") != rescued {
					t.Errorf("repaired %q, handed over %q", result.SessionRepaired, result.SessionHandedOver)
				}
			})
			if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
				t.Errorf("the record has changed: %v", err)
			}
		})
	}
}
