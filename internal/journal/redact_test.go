package journal_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/verdict"
)

// A detail stays JSON, whatever is redacted in it.
func TestLog_RedactsDetails(t *testing.T) {
	const key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz"
	path := filepath.Join(t.TempDir(), "log.jsonl")
	e := entry("x")
	e.Kind, e.Event, e.Error = journal.Hook, "PreToolUse", "failed with "+key
	e.Detail = json.RawMessage(fmt.Sprintf(`{"error":"Authorization: Bearer %s","api_key":"plain","n":1,"list":["%s",{"password":"hunter2"}],"tokens":7,"session_key":"s1"}`, key, key))
	must.OK(t, (&journal.Log{Path: path}).Append(e))
	list, torn := read(t, path)
	if len(list) != 1 || torn != 0 {
		t.Fatalf("%+v, %d torn", list, torn)
	}
	text := list[0].Error + string(list[0].Detail)
	if strings.Contains(text, key) || strings.Contains(text, "plain") || strings.Contains(text, "hunter2") {
		t.Errorf("%s", text)
	}
	var d map[string]any
	if err := json.Unmarshal(list[0].Detail, &d); err != nil || d["n"] != 1.0 || d["tokens"] != 7.0 || d["session_key"] != "s1" {
		t.Errorf("%s: %v", list[0].Detail, err)
	}
}

func TestLog_LongDetailsAreShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	e := entry("x")
	e.Kind = journal.Hook
	e.Detail, _ = json.Marshal(map[string]string{"hook_name": "fmt", "stack": strings.Repeat("main.go:12\n", 5000)})
	must.OK(t, (&journal.Log{Path: path}).Append(e))
	list, _ := read(t, path)
	var d struct {
		Name  string `json:"hook_name"`
		Stack string
	}
	if len(list) != 1 || json.Unmarshal(list[0].Detail, &d) != nil || d.Name != "fmt" || len(d.Stack) < 500 || !strings.HasSuffix(d.Stack, "…") {
		t.Errorf("%+v", list)
	}
}

func TestClassify(t *testing.T) {
	for class, want := range map[verdict.Class]string{
		verdict.Network: "network true connection warning", verdict.Timeout: "timeout true connection warning", verdict.RateLimit: "rate_limit true sdk warning",
		verdict.Auth: "auth false sdk error", verdict.NotFound: "not_found false sdk error", verdict.Overloaded: "overloaded true sdk warning",
		verdict.Unknown: "unknown false unknown error", verdict.Crash: "crash false unknown error", verdict.Stalled: "stalled true unknown warning",
		verdict.ToolMissing: "tool_missing false unknown error",
	} {
		c := journal.Classify(class, "why")
		if got := fmt.Sprintf("%s %v %s %s", c.Type, c.IsRetryable, c.Category, c.Severity); got != want || c.Message != "why" {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
	data, _ := json.Marshal(journal.Classify(verdict.Auth, "m"))
	if want := `{"type":"auth","message":"m","is_retryable":false,"category":"sdk","severity":"error"}`; string(data) != want {
		t.Errorf("%s", data)
	}
}

func TestRedacted(t *testing.T) {
	const start = `{"timestamp":"2026-11-17T04:00:00.000Z","invocation":"run-1","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"`
	const key = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
	for _, line := range []string{start + "}\n", start + `,"error":"no access"}` + "\n", start + `,"detail":{"step":"deploy"}}` + "\n", start[:40], start[:40] + start + "}\n", "\n", ""} {
		if got := journal.Redacted([]byte(line)); string(got) != line {
			t.Errorf("%q became %q", line, got)
		}
	}
	for _, line := range []string{start + `,"error":"no access with ` + key + `"}` + "\n", start + `,"detail":{"env":"` + key + `"}}` + "\n", `{"timestamp":"2026","error":"` + key} {
		if got := string(journal.Redacted([]byte(line))); strings.Contains(got, key) || !strings.Contains(got, "[redacted]") {
			t.Errorf("%q became %q", line, got)
		}
	}
}
