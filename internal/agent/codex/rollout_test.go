package codex

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// request is what 0.166 writes down of one, counted is what older versions do.
func request(at time.Time, in int) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":"token_usage_record","payload":{"usage":{"input_tokens":%d,"cached_input_tokens":400,"output_tokens":50},"thread_token_usage":{"input_tokens":99999}}}`+"\n",
		at.UTC().Format("2006-01-02T15:04:05.000Z"), in)
}

func counted(at time.Time, total, last int) string {
	return fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":%d},"last_token_usage":{"input_tokens":%d,"output_tokens":50}}}}`+"\n",
		at.UTC().Format("2006-01-02T15:04:05.000Z"), total, last)
}

const meta = `{"timestamp":"2026-11-15T05:22:49.215Z","type":"session_meta","payload":{"id":"` + thread + `","cwd":"/w","cli_version":"0.166.0","base_instructions":"` // and much more

// writeRollout makes the record of a thread that began on some day.
func writeRollout(t *testing.T, home, day string, lines ...string) string {
	t.Helper()
	path := filepath.Join(home, "sessions", day, "rollout-2026-11-15T05-22-49-"+thread+".jsonl")
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	head := meta + strings.Repeat("x", 2*maxRecord) + "\"}}\n"
	must.OK(t, os.WriteFile(path, []byte(head+strings.Join(lines, "")), 0o600))
	return path
}

func TestReadRollout(t *testing.T) {
	before, start, after := noon.Add(-time.Minute), noon.Add(300*time.Microsecond), noon.Add(time.Second)
	null := strings.Replace(counted(after, 0, 0), `"info":{`, `"info":null,"x":{`, 1)
	for name, tt := range map[string]struct {
		lines   []string
		want    tokens
		answers int
	}{
		"every request since":              {[]string{request(before, 1000), request(noon, 1), request(after, 2)}, tokens{Input: 3, CachedInput: 800, Output: 100}, 2},
		"both kinds count once":            {[]string{request(after, 1), counted(after, 1, 1)}, tokens{Input: 1, CachedInput: 400, Output: 50}, 1},
		"an older version":                 {[]string{counted(before, 1000, 1000), counted(after, 2000, 1000), counted(after, 3000, 1000)}, tokens{Input: 2000, Output: 100}, 2},
		"an older version repeats itself":  {[]string{counted(before, 1000, 1000), counted(after, 1000, 1000), counted(after, 2000, 1000), counted(after, 2000, 1000)}, tokens{Input: 1000, Output: 50}, 1},
		"a count of nothing":               {[]string{null}, tokens{}, 0},
		"nothing since":                    {[]string{request(before, 1000)}, tokens{}, 0},
		"a line that is too long":          {[]string{`{"type":"response_item","x":"` + strings.Repeat("_token", maxRecord) + "\"}\n", request(after, 5)}, tokens{Input: 5, CachedInput: 400, Output: 50}, 1},
		"torn":                             {[]string{request(after, 5), request(after, 7)[:60]}, tokens{Input: 5, CachedInput: 400, Output: 50}, 1},
		"a command that prints such lines": {[]string{`{"timestamp":"2027-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","usage":{"input_tokens":7},"x":"token_usage_record _token"}}` + "\n"}, tokens{}, 0},
	} {
		r, err := readRollout(writeRollout(t, t.TempDir(), "2026/11/15", tt.lines...), start, 0)
		if err != nil || !reflect.DeepEqual(r.calls.Usage(), tt.want.call("").Used) || len(r.calls) != tt.answers || r.version != "0.166.0" {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
	if _, err := readRollout(filepath.Join(t.TempDir(), "none"), start, 0); err == nil {
		t.Error("no error")
	}
}

// All that was written since the attempt began is read, however much that is. Of what was there before, an older version's
// last sum is needed, and the line that is begun in the middle of is left out.
func TestReadRollout_Large(t *testing.T) {
	before, after := noon.Add(-time.Minute), noon.Add(time.Second)
	long := strings.Repeat("y", lookBack) + "\n"
	short := strings.Repeat("y", lookBack/2) + "\n"
	for name, tt := range map[string]struct {
		before, since []string
		want          int64
		answers       int
	}{
		"a new thread":                {nil, []string{request(after, 1000), long, request(after, 5)}, 1005, 2},
		"a new one, an older version": {nil, []string{counted(after, 1000, 1000), long, counted(after, 1005, 5)}, 1005, 2},
		"a resumed thread":            {[]string{request(before, 7), long}, []string{request(after, 1000), long, request(after, 5)}, 1005, 2},
		"nothing is paid for twice":   {[]string{request(before, 7)}, []string{long, request(after, 5)}, 5, 1},
		"an older version goes on":    {[]string{long, counted(before, 7, 7), short}, []string{counted(after, 7, 7), long, counted(after, 12, 5)}, 5, 1},
	} {
		home := t.TempDir()
		path := writeRollout(t, home, "2026/11/15", tt.before...)
		from := int64(0)
		if tt.before != nil {
			from = sizeOf(home, thread)
		}
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must.OK(t, err)
		f.WriteString(strings.Join(tt.since, ""))
		f.Close()
		if r, err := readRollout(path, noon, from); err != nil || r.calls.Usage().InputTokens != tt.want || len(r.calls) != tt.answers {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
		if r, err := readRollout(path, noon, 1<<40); err != nil || r.calls.Usage().InputTokens != tt.want { // it has been written anew
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}

func TestFindRollout(t *testing.T) {
	for _, day := range []string{"2026/11/14", "2026/11/15", "2026/11/16", "2025/01/01"} {
		home := filepath.Join(t.TempDir(), "a [strange] home")
		want := writeRollout(t, home, day)
		if got := findRollout(home, thread); got != want {
			t.Errorf("%s: %q", day, got)
		}
	}
	if got := findRollout(t.TempDir(), thread); got != "" {
		t.Errorf("%q", got)
	}
	home := t.TempDir()
	writeRollout(t, home, "2026/11/15")
	if got := findRollout(home, "00000000-0000-4000-8000-000000000000"); got != "" {
		t.Errorf("another thread's: %q", got)
	}
}

// What the thread has used before, and what a failed turn does not tell, is in the record.
func TestAccount_FromTheRollout(t *testing.T) {
	home := t.TempDir()
	p := New(words("codex exec resume "+thread+" hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	run := func(lines ...string) agent.Account {
		os.RemoveAll(filepath.Join(home, "sessions"))
		f := p.Follow(plan)
		writeRollout(t, home, "2026/11/15", request(time.Now().Add(-time.Minute), 1000), request(time.Now(), 10),
			fmt.Sprintf(`{"timestamp":%q,"type":"turn_context","payload":{"model":"gpt-x"}}`+"\n", time.Now().UTC().Format(time.RFC3339Nano)))
		for _, l := range lines {
			f.Line(agent.Line{Text: []byte(l)})
		}
		f.Judge(verdict.Outcome{ExitCode: 1}, time.Now())
		return f.Account()
	}
	want := agent.Account{Session: thread, Active: true, Usage: verdict.Usage{InputTokens: 10, OutputTokens: 50, CacheReadInputTokens: 400},
		Version: "0.166.0", Model: "gpt-x", Requests: 1}
	for name, lines := range map[string][]string{"done": {started, hello, completed}, "failed": {started, hello, failed}, "killed": {started, toolBegan}} {
		want.Requests = 1
		if name == "failed" {
			want.Requests = 2 // the one that was answered, and the one that was not
		}
		got := run(lines...)
		if got.Tools = (agent.ToolUse{}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// Without a record the sum over a resumed thread says nothing of the attempt.
	home = t.TempDir()
	p = New(words("codex exec resume "+thread+" hi"), []string{"CODEX_HOME=" + home}, "")
	f := p.Follow(plan)
	for _, l := range []string{started, hello, completed} {
		f.Line(agent.Line{Text: []byte(l)})
	}
	f.Judge(verdict.Outcome{}, time.Now())
	if got := f.Account().Usage; !reflect.DeepEqual(got, verdict.Usage{Unknown: true}) {
		t.Errorf("%+v", got)
	}
}

// A message of the server that no rule knows is told apart by the record.
func TestJudge_ByTheRecord(t *testing.T) {
	for info, want := range map[string]verdict.Class{
		`"model_not_found"`: verdict.NotFound,
		`"bio_policy"`:      verdict.Refused,
		`"other"`:           verdict.Unknown,
		`null`:              verdict.Unknown,
		`{"http_connection_failed":{"http_status_code":503}}`: verdict.ServerError,
		`{"http_connection_failed":{"http_status_code":0}}`:   verdict.Unknown,
		`{"something_new":7}`:                                 verdict.Unknown,
	} {
		home := t.TempDir()
		p := New(words("codex exec hi"), []string{"CODEX_HOME=" + home}, "")
		plan, err := p.Plan(agent.Turn{})
		must.OK(t, err)
		f := p.Follow(plan)
		writeRollout(t, home, "2026/11/15", fmt.Sprintf(`{"timestamp":%q,"type":"event_msg","payload":{"type":"task_complete","error":{"message":"Nope.","codex_error_info":%s}}}`+"\n",
			time.Now().UTC().Format(time.RFC3339Nano), info))
		f.Line(agent.Line{Text: []byte(started)})
		f.Line(agent.Line{Text: []byte(`{"type":"turn.failed","error":{"message":"Nope."}}`)})
		if v := f.Judge(verdict.Outcome{ExitCode: 1}, time.Now()); v.Class != want || v.Retryable != want.Retryable() || v.Evidence != "Nope." {
			t.Errorf("%s: %+v", info, v)
		}
	}
}

// The record is read as it grows: each call is told once, with its cost, and by the end the account has the sum of them.
func TestFollow_Turns(t *testing.T) {
	home := t.TempDir()
	p := New(words("codex exec hi"), []string{"CODEX_HOME=" + home}, "")
	plan, err := p.Plan(agent.Turn{})
	must.OK(t, err)
	f := p.Follow(plan).Reader.(*follower)
	show := func(line string) *verdict.Usage {
		f.looked = time.Time{}
		return f.Line(agent.Line{Text: []byte(line)}).Turn
	}
	if turn := show(started); turn != nil {
		t.Errorf("without a record: %+v", turn)
	}
	now := time.Now()
	context := fmt.Sprintf(`{"timestamp":%q,"type":"turn_context","payload":{"model":"gpt-5.6-terra"}}`+"\n", now.UTC().Format(time.RFC3339Nano))
	path := writeRollout(t, home, "2026/11/15", context)
	grow := func(text string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		must.OK(t, err)
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	is := func(what string, turn *verdict.Usage, input int64, cost float64) {
		t.Helper()
		if turn == nil || turn.InputTokens != input || turn.CostUSD == nil || math.Abs(*turn.CostUSD-cost) > 1e-12 || !turn.Estimated {
			t.Errorf("%s: %+v", what, turn)
		}
	}
	first, second, third := request(now, 1400), request(now, 2400), request(now, 3400) // 400 of each are cached; 50 go out
	grow(first + second[:40])
	is("one and a part", show(toolBegan), 1400, (1000*2+400*0.2+50*12)/1e6)
	if turn := show(toolBegan); turn != nil {
		t.Errorf("nothing new: %+v", turn)
	}
	grow(second[40:] + third)
	is("two", show(toolBegan), 5800, (5000*2+800*0.2+100*12)/1e6)
	f.Judge(verdict.Outcome{Signal: "SIGKILL"}, time.Now())
	a := f.Account()
	used := a.Priced()
	is("all", &used, 7200, (6000*2+1200*0.2+150*12)/1e6)
	if got, _, ok := Recall(home, thread, now.Add(-time.Second), nil); !ok || got.Estimate == nil || *got.Estimate != *a.Estimate {
		t.Errorf("recalled: %+v", got)
	}
}

// What a thread without a record has used is priced by the model that was asked for. Without that it has no price.
func TestAccount_WithoutARecord(t *testing.T) {
	for line, want := range map[string]float64{"codex exec --ephemeral -m gpt-5 hi": (1000*1.25 + 500*0.125 + 60*10) / 1e6, "codex exec --ephemeral hi": -1,
		"codex exec --ephemeral -c model=gpt-5-mini hi": (1000*0.25 + 500*0.025 + 60*2) / 1e6, "codex exec --ephemeral -m my-own hi": -1} {
		p := New(words(line), []string{"CODEX_HOME=" + t.TempDir()}, "")
		plan, err := p.Plan(agent.Turn{})
		must.OK(t, err)
		f := p.Follow(plan)
		for _, l := range []string{started, hello, `{"type":"turn.completed","usage":{"input_tokens":1500,"cached_input_tokens":500,"output_tokens":60}}`} {
			f.Line(agent.Line{Text: []byte(l)})
		}
		f.Judge(verdict.Outcome{}, time.Now())
		estimate := f.Account().Estimate
		if (estimate == nil) != (want < 0) || estimate != nil && math.Abs(*estimate-want) > 1e-12 {
			t.Errorf("%s: %v, want %v", line, estimate, want)
		}
	}
}
