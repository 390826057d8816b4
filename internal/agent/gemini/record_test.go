package gemini

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// message is a line of a record.
func message(id string, at time.Time, more string) string {
	return fmt.Sprintf(`{"id":%q,"timestamp":%q,"type":"gemini","content":"x","model":"gemini-2.5-flash"%s}`, id, at.UTC().Format("2006-01-02T15:04:05.000Z"), more) + "\n"
}

const used = `,"tokens":{"input":1000,"output":50,"cached":400,"thoughts":20,"tool":0,"total":1070}`

// recordIn writes a record into a home and returns its path.
func recordIn(t *testing.T, home, ending, text string) string {
	t.Helper()
	dir := filepath.Join(home, "tmp", "project", "chats")
	must.OK(t, os.MkdirAll(dir, 0o700))
	path := filepath.Join(dir, "session-2026-11-15T00-22-"+id[:8]+ending)
	must.OK(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

const metadata = `{"sessionId":"` + id + `","projectHash":"x","startTime":"2026-11-15T00:00:00.000Z"}` + "\n"

func TestRecall(t *testing.T) {
	begun := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	before, after := begun.Add(-time.Minute), begun.Add(time.Minute)
	lines := metadata + message("m0", before, used) + message("m1", after, used) + `{"$set":{"lastUpdated":"x"}}` + "\n" +
		message("m1", after, used+`,"toolCalls":[{"id":"t1"}]`) + message("m2", after, `,"tokens":null`) + message("m3", after, used)
	for name, tt := range map[string]struct {
		ending, text string
		calls        int
	}{
		"lines":          {".jsonl", lines, 2},
		"a torn line":    {".jsonl", lines + message("m4", after, used)[:60], 2},
		"nothing of it":  {".jsonl", metadata + message("m0", before, used), 0},
		"what is broken": {".jsonl", metadata + "{{{\n" + message("m1", after, used), 1},
		"one object":     {".json", `{"sessionId":"` + id + `","messages":[` + message("m1", after, used) + "," + message("m0", before, used) + "]}", 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			recordIn(t, home, tt.ending, tt.text)
			a, last, ok := Recall(home, id, begun, nil)
			if !ok || last.IsZero() || a.Requests != tt.calls || a.Active != (tt.calls > 0) || a.Usage.Unknown != (tt.calls == 0) {
				t.Fatalf("%v, %+v", ok, a)
			}
			if u := a.Usage; u.InputTokens != int64(1000*tt.calls) || u.OutputTokens != int64(50*tt.calls) || u.CacheReadInputTokens != int64(400*tt.calls) {
				t.Errorf("%+v", u)
			}
			// 600 in at 0.3, 400 from the cache at 0.03, 70 out, thoughts included, at 2.5
			if want := float64(tt.calls) * (600*0.3 + 400*0.03 + 70*2.5) / 1e6; tt.calls > 0 && (a.Estimate == nil || math.Abs(*a.Estimate-want) > 1e-12) {
				t.Errorf("cost %v, want %v", a.Estimate, want)
			}
		})
	}
}

func TestRecall_None(t *testing.T) {
	home := t.TempDir()
	recordIn(t, home, ".jsonl", `{"sessionId":"`+id[:8]+`-0000-4000-8000-000000000000"}`+"\n") // of another, whose name begins alike
	for _, session := range []string{id, "", "../../x", "*"} {
		if _, _, ok := Recall(home, session, time.Time{}, nil); ok {
			t.Errorf("%q has a record", session)
		}
	}
}

// What a model call has used is told once, as soon as it is on record: events tell of it only at the end.
func TestTurn(t *testing.T) { synctest.Test(t, testTurn) }

func testTurn(t *testing.T) {
	home := t.TempDir()
	p := New(words("gemini -p hi"), []string{"GEMINI_CLI_HOME=" + home}, "")
	plan, _ := p.Plan(agent.Turn{})
	f := p.Follow(plan).Reader.(*follower)
	line := func(text string) agent.LineInfo { return f.Line(agent.Line{Text: []byte(text)}) }
	line(begins)
	path := recordIn(t, filepath.Join(home, ".gemini"), ".jsonl", metadata)
	if info := line(calls); info.Turn != nil || !info.Continues {
		t.Errorf("%+v", info)
	}
	if _, ok := f.look(); ok {
		t.Error("there is something new, of nothing")
	}
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	must.OK(t, err)
	defer file.Close()
	time.Sleep(2 * lookInterval) // a record is not looked for all the time
	file.WriteString(message("m1", time.Now().Add(time.Second), used))
	info, ok := f.look()
	if !ok || info.Turn == nil || info.Turn.InputTokens != 1000 || info.Turn.CostUSD == nil || !info.Turn.Estimated || !info.Continues || info.Tools != 1 {
		t.Errorf("%v, %+v", ok, info)
	}
	file.WriteString(message("m1", time.Now().Add(time.Second), used+`,"toolCalls":[]`))
	if info, ok := f.look(); ok {
		t.Errorf("told twice: %+v", info)
	}
	// It is killed while the tool runs.
	f.Judge(verdict.Outcome{ExitCode: -1, Signal: "SIGKILL"}, time.Now())
	if a := f.Account(); !a.Active || a.Session != id || a.Usage.InputTokens != 1000 || a.Estimate == nil || a.Usage.Unknown {
		t.Errorf("%+v", a)
	}
}

// An answer that was cut off is not on record, so that the session cannot go on with it.
func TestAccount_CutOff(t *testing.T) {
	home := t.TempDir()
	p := New(words("gemini -p hi"), []string{"GEMINI_CLI_HOME=" + home}, "")
	plan, _ := p.Plan(agent.Turn{})
	f := p.Follow(plan).Reader.(*follower)
	for _, text := range []string{begins, asks, says("hel"), failsWith("[API Error: terminated]")} {
		f.Line(agent.Line{Text: []byte(text)})
	}
	recordIn(t, filepath.Join(home, ".gemini"), ".jsonl", metadata)
	if v := f.Judge(verdict.Outcome{ExitCode: 1}, time.Now()); v.Class != verdict.Network {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
	if a := f.Account(); a.Active || a.Session != id {
		t.Errorf("%+v", a)
	}
}

// Versions up to 0.40 take the pieces of streams that ended too soon for the answer, and succeed. Their record has no usage of such streams.
func TestJudge_BrokeOff(t *testing.T) {
	const cut, tool = `,"tokens":null`, used + `,"toolCalls":[{"id":"t1"}]`
	user := fmt.Sprintf(`{"id":"u","timestamp":%q,"type":"user","content":"System: Please continue."}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339)) + "\n"
	for name, tt := range map[string]struct {
		messages []string // what follows the id of each; a user's is whole
		want     verdict.Class
	}{
		"whole":                        {[]string{used}, verdict.OK},
		"after a tool":                 {[]string{tool, cut, cut, cut, cut, user, cut, cut, cut, cut}, verdict.Network},
		"without a tool":               {[]string{cut, cut, cut, cut, user, cut, cut, cut, cut}, verdict.Network},
		"after two tools":              {[]string{tool, cut, tool, cut, cut, cut, cut}, verdict.Network},
		"the last one is whole":        {[]string{tool, cut, cut, cut, cut, user, cut, cut, cut, used}, verdict.OK},
		"a service that tells nothing": {[]string{cut + `,"toolCalls":[{"id":"t1"}]`, cut + `,"toolCalls":[{"id":"t2"}]`, cut + `,"toolCalls":[{"id":"t3"}]`, cut}, verdict.OK},
		"which is asked to continue":   {[]string{cut, user, cut, user, cut, user, cut, user, cut}, verdict.OK},
	} {
		for _, form := range []string{"stream-json", "json"} {
			t.Run(name+"/"+form, func(t *testing.T) {
				home := t.TempDir()
				p := New(words("gemini -o "+form+" -p hi"), []string{"GEMINI_CLI_HOME=" + home}, "")
				plan, _ := p.Plan(agent.Turn{})
				f := p.Follow(plan).Reader.(*follower)
				lines := []string{begins, asks, says("hel"), succeeds}
				if form == "json" {
					lines = []string{statsOf(9, 0, 15, 1)}
				}
				for _, text := range lines {
					f.Line(agent.Line{Text: []byte(text)})
				}
				record := metadata
				for i, m := range tt.messages {
					if m != user {
						m = message(fmt.Sprint("m", i), time.Now().Add(time.Hour), m)
					}
					record += m
				}
				recordIn(t, filepath.Join(home, ".gemini"), ".jsonl", record)
				if v := f.Judge(verdict.Outcome{ExitCode: 0}, time.Now()); v.Class != tt.want {
					t.Errorf("%s by %s", v.Class, v.Rule)
				}
			})
		}
	}
}
