package claude

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// What claude 2.1.325 writes of a turn with a tool, of one that ran into the limit of a plan, and of one that was refused; shortened.
const (
	askedRecord = `{"isSidechain":false,"type":"user","message":{"role":"user","content":"say hi"},"uuid":"u1","timestamp":"TIME","promptSource":"typed","cwd":"/w","sessionId":"SESSION","version":"2.1.325"}
`
	workRecord = askedRecord + `{"isSidechain":false,"message":{"content":[{"id":"toolu_1","input":{"command":"echo a > f"},"name":"Bash","type":"tool_use"}],"id":"msg_1","model":"claude-opus-5-5","role":"assistant","stop_reason":"tool_use","usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"type":"assistant","uuid":"a1","timestamp":"TIME","session_id":"SESSION","sessionId":"SESSION","version":"2.1.325"}
{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"tool_use_id":"toolu_1","type":"tool_result","content":"(Bash completed with no output)","is_error":false}]},"uuid":"u2","timestamp":"TIME","sessionId":"SESSION","version":"2.1.325"}
{"isSidechain":false,"message":{"content":[{"text":"Done.","type":"text"}],"id":"msg_2","model":"claude-opus-5-5","role":"assistant","stop_reason":"end_turn","usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":5}},"type":"assistant","uuid":"a2","timestamp":"TIME","session_id":"SESSION","sessionId":"SESSION","version":"2.1.325"}
{"isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":848,"timestamp":"TIME","uuid":"d1","sessionId":"SESSION","version":"2.1.325"}
`
	limitRecord = askedRecord + `{"isSidechain":false,"type":"assistant","uuid":"a3","timestamp":"TIME","message":{"id":"e1","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"You've hit your 5-hour limit · resets 8:11pm (UTC)"}]},"apiError":"usage_limit_reached","quotaLimits":{"status":"rejected","resetsAt":1795119074,"rateLimitType":"five_hour"},"error":"rate_limit","isApiErrorMessage":true,"apiErrorStatus":429,"apiErrorType":"rate_limit_error","sessionId":"SESSION","version":"2.1.325"}
{"isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":404,"timestamp":"TIME","uuid":"d2","sessionId":"SESSION","version":"2.1.325"}
`
	refusedRecord = askedRecord + `{"isSidechain":false,"type":"assistant","uuid":"a4","timestamp":"TIME","message":{"id":"e2","model":"<synthetic>","role":"assistant","stop_reason":"stop_sequence","usage":{"input_tokens":0,"output_tokens":0},"content":[{"type":"text","text":"Invalid API key · Fix external API key"}]},"error":"authentication_failed","isApiErrorMessage":true,"apiErrorStatus":401,"apiErrorType":"authentication_error","sessionId":"SESSION","version":"2.1.325"}
{"isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":404,"timestamp":"TIME","uuid":"d3","sessionId":"SESSION","version":"2.1.325"}
`
)

// idleRecord is a turn in which the model was not asked, such as a command of claude's own.
var idleRecord = strings.Join(slices.Delete(strings.SplitAfter(refusedRecord, "\n"), 1, 2), "")

// recordedSession writes the records of a home of claude's.
type recordedSession struct {
	t    *testing.T
	home string
}

func (r recordedSession) writes(path, text string, at time.Time) {
	r.t.Helper()
	path = filepath.Join(r.home, path)
	must.OK(r.t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	must.OK(r.t, err)
	_, err = f.WriteString(strings.NewReplacer("SESSION", agent.UUIDExample, "TIME", at.Format(time.RFC3339Nano)).Replace(text))
	must.OK(r.t, err)
	must.OK(r.t, f.Close())
}

// A session that a waiting process takes over is followed turn by turn, from then on, on its record.
func TestBackground_Turns(t *testing.T) {
	r := recordedSession{t, t.TempDir()}
	const record = "projects/-w/" + agent.UUIDExample + ".jsonl"
	p := New([]string{"claude", "--bg-spare", "/s"}, []string{"CLAUDE_CODE_SESSION_KIND=bg", "CLAUDE_CONFIG_DIR=" + r.home})
	if info := p.Info(); !p.Headless() || !info.Screen || !info.Once || info.Unknown != "" {
		t.Fatalf("headless %v, %+v", p.Headless(), info)
	}
	f := p.Follow(agent.Plan{Plain: true})
	f.Started(7)
	if _, ok := f.Look(); ok || !f.Account().Unused {
		t.Error("it has a session")
	}
	r.writes(record, workRecord, time.Now())                                                                 // by another process, while this one waited
	r.writes("sessions/7.json", `{"pid":7,"sessionId":"SESSION","cwd":"/old","startedAt":1000}`, time.Now()) // by one that had its number
	if _, ok := f.Look(); ok || f.Account().Dir != "" {
		t.Errorf("%+v", f.Account())
	}
	must.OK(t, os.Remove(filepath.Join(r.home, "sessions", "7.json")))
	taken := time.Now().Add(time.Minute)
	r.writes("sessions/7.json", fmt.Sprintf(`{"pid":7,"sessionId":"SESSION","cwd":"/w","startedAt":%d}`, taken.UnixMilli()), taken)
	for _, turn := range []struct {
		record string
		class  verdict.Class
		input  int64
	}{{workRecord, verdict.OK, 20}, {limitRecord, verdict.UsageLimit, 20}, {workRecord, verdict.OK, 20}, {refusedRecord, verdict.Auth, 20}, {idleRecord, verdict.OK, 20}} {
		text := turn.record
		half := len(text) / 2
		over := 0
		for _, piece := range []string{text[:half], text[half:]} { // it is read while it is written
			r.writes(record, piece, taken.Add(time.Second))
			for info, ok := f.Look(); ok; info, ok = f.Look() {
				if info.TurnOver {
					over++
				}
			}
		}
		v := f.JudgeTurn(time.Now())
		if over != 1 || v.Class != turn.class || (v.Class == verdict.UsageLimit) == v.Hint.IsZero() {
			t.Errorf("%d turns over, %+v, want %s", over, v, turn.class)
		}
		if a := f.Account(); a.Unused || a.Dir != "/w" || a.Session != agent.UUIDExample || a.Usage.InputTokens != turn.input || a.Model != "claude-opus-5-5" {
			t.Errorf("%+v", a)
		}
	}
}

// Of what claude's supervisor starts, only sessions are followed.
func TestBackground_Sessions(t *testing.T) {
	const id = agent.UUIDExample
	for line, want := range map[string]bool{
		"--session-id " + id + " hi":                              true,
		"--permission-mode plan --resume " + id + " --new-option": true,
		"--bg-spare /s": true,
		"daemon run":    false,
		"--bg-pty-host /s 200 50 -- /bin/belay claude --session-id " + id + " hi": false,
		"-p --session-id " + id + " hi":                                           true, // it is a turn
		"hi":                                                                      false,
	} {
		args := append([]string{"claude"}, strings.Fields(line)...)
		p := New(args, []string{"CLAUDE_CODE_SESSION_KIND=bg"})
		if p.Headless() != want || p.Info().Screen == strings.HasPrefix(line, "-p") && want {
			t.Errorf("%s: headless %v, %+v", line, p.Headless(), p.Info())
		}
		if New(args, nil).Info().Screen {
			t.Errorf("%s: followed in the foreground", line)
		}
	}
}
