package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/test/must"
)

const recalled = "aae96ec5-44eb-4897-94e9-d4ebb2b8414f"

// What follows are lines of a session's record, as claude 2.1.325 writes them. at are the minutes of their time.

func asks(at string) string {
	return `{"type":"api-request","sessionId":"` + recalled + `","timestamp":"2026-11-15T12:` + at + `:00.000Z","params":{"model":"m"}}`
}

func noted(at, id, usage, stop string) string {
	return `{"parentUuid":"x","isSidechain":false,"message":{"content":[{"type":"tool_use"}],"id":"` + id + `","model":"opus","role":"assistant","stop_reason":` + stop +
		`,"type":"message","usage":` + usage + `},"type":"assistant","timestamp":"2026-11-15T12:` + at + `:01.000Z","version":"2.1.325"}`
}

func user(at string) string {
	return `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"quotes \"type\":\"cost-state\" in its text"}]},"timestamp":"2026-11-15T12:` + at + `:02.000Z"}`
}

func costs(usd string) string {
	return `{"type":"cost-state","sessionId":"` + recalled + `","totalCostUSD":` + usd + `,"modelUsage":{},"hasUnknownModelCost":false}`
}

func TestRecall(t *testing.T) {
	const a, b = `{"input_tokens":1000,"output_tokens":70,"cache_read_input_tokens":30}`, `{"input_tokens":100,"output_tokens":10,"cache_creation_input_tokens":5}`
	done := `"tool_use"`
	for name, tt := range map[string]struct {
		lines []string
		want  tokens
		cost  float64 // 0 if it is not known
		n     int
	}{
		"killed in a tool":            {[]string{asks("10"), noted("10", "m1", a, done), user("10"), asks("11"), noted("11", "m2", b, done)}, tokens{1100, 80, 30, 5}, 0, 2},
		"with the cost":               {[]string{asks("10"), noted("10", "m1", a, done), costs("0.25")}, tokens{1000, 70, 30, 0}, 0.25, 1},
		"asked, and not noted yet":    {[]string{asks("10"), noted("10", "m1", a, done), user("10"), costs("0.25")}, tokens{1000, 70, 30, 0}, 0, 1},
		"asked since":                 {[]string{asks("10"), noted("10", "m1", a, done), user("10"), asks("11"), costs("0.25")}, tokens{1000, 70, 30, 0}, 0, 1},
		"a cost from before":          {[]string{asks("10"), noted("10", "m1", a, done), costs("0.25"), asks("11"), noted("11", "m2", b, done)}, tokens{1100, 80, 30, 5}, 0, 2},
		"one message in several":      {[]string{noted("10", "m1", `{"input_tokens":1000,"output_tokens":2}`, "null"), noted("10", "m1", a, done), costs("0.25")}, tokens{1000, 70, 30, 0}, 0.25, 1},
		"a message that is not whole": {[]string{noted("10", "m1", a, "null"), costs("0.25")}, tokens{1000, 70, 30, 0}, 0, 1},
		"an older version":            {[]string{user("10"), noted("10", "m1", a, done), user("10"), costs("0.25")}, tokens{1000, 70, 30, 0}, 0, 1},
		"a session that went on": {[]string{asks("01"), noted("01", "m0", a, done), costs("0.25"), asks("10"), noted("10", "m1", b, done), costs("0.35")},
			tokens{100, 10, 0, 5}, 0.1, 1},
		"whose cost was not known": {[]string{asks("01"), noted("01", "m0", a, done), asks("10"), noted("10", "m1", b, done), costs("0.35")}, tokens{100, 10, 0, 5}, 0, 1},
		"claude's own words":       {[]string{asks("10"), strings.Replace(noted("10", "m1", a, done), `"opus"`, `"<synthetic>"`, 1)}, tokens{}, 0, 0},
		"nothing":                  {nil, tokens{}, 0, 0},
		"torn":                     {[]string{noted("10", "m1", a, done), costs("0.25"), `{"type":"assistant","message":{"id":"m2","usage":{"input_to`}, tokens{1000, 70, 30, 0}, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			home := filepath.Join(t.TempDir(), "[home]*")
			dir := filepath.Join(home, "projects", "-some-dir")
			must.OK(t, os.MkdirAll(dir, 0o700))
			must.OK(t, os.WriteFile(filepath.Join(dir, recalled+".jsonl"), []byte(strings.Join(tt.lines, "\n")), 0o600))
			got, last, ok := Recall(home, recalled, time.Date(2026, 11, 15, 12, 5, 0, 999, time.UTC), nil)
			want := tt.want.usage()
			if u := got.Usage; !ok || u.InputTokens != want.InputTokens || u.OutputTokens != want.OutputTokens || u.CacheReadInputTokens != want.CacheReadInputTokens ||
				u.CacheCreationInputTokens != want.CacheCreationInputTokens || got.Requests != tt.n {
				t.Errorf("%v, %+v", ok, got)
			}
			cost := 0.0
			if got.Usage.CostUSD != nil {
				cost = *got.Usage.CostUSD
			}
			if cost < tt.cost-1e-9 || cost > tt.cost+1e-9 {
				t.Errorf("cost %v, want %v", cost, tt.cost)
			}
			if tt.n > 0 && (got.Model != "opus" || last.IsZero()) {
				t.Errorf("model %q, last %v", got.Model, last)
			}
		})
	}
}

// A subagent has a record of its own beside that of its session.
func TestRecall_Subagents(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "projects", "-some-dir")
	for path, line := range map[string]string{
		recalled + ".jsonl":                    noted("10", "m1", `{"input_tokens":1,"output_tokens":2}`, `"tool_use"`),
		recalled + "/subagents/agent-a1.jsonl": noted("11", "m2", `{"input_tokens":10,"output_tokens":20}`, `"end_turn"`),
		"agent-other.jsonl":                    noted("11", "m3", `{"input_tokens":100,"output_tokens":200}`, `"end_turn"`),
	} {
		must.OK(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, path)), 0o700))
		must.OK(t, os.WriteFile(filepath.Join(dir, path), []byte(line+"\n"), 0o600))
	}
	got, _, ok := Recall(home, recalled, time.Time{}, nil)
	if u := got.Usage; !ok || u.InputTokens != 11 || u.OutputTokens != 22 || u.CostUSD != nil {
		t.Errorf("%v, %+v", ok, got)
	}
	for _, id := range []string{"", "../" + recalled, "*", "aae96ec5-44eb-4897-94e9-000000000000"} {
		if _, _, ok := Recall(home, id, time.Time{}, nil); ok {
			t.Errorf("%q was found", id)
		}
	}
}
