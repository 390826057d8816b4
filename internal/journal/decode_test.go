package journal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/verdict"
)

// full is an entry with everything.
func full() Entry {
	at := Time{time.Date(2026, 11, 15, 12, 0, 0, 5e6, time.UTC)}
	return Entry{Timestamp: at, Invocation: "01a1dddf-2699-7e0f-b6ac-b8cbd5705482", Profile: "claude", Command: "claude", PromptHash: "abc", Attempt: 2,
		Status: Error, ErrorType: verdict.Network, Error: "connection reset, again", Rule: "r", Retryable: new(false), ExitCode: -1, Signal: "SIGKILL", WaitTime: 1.5,
		ResponseTime: 0.25, RetryAt: at, Session: "s", Usage: json.RawMessage(`{"input_tokens":1,"x":{"y":"}\"{"}}`), Gate: "g", InnerWait: 0.25, GateWait: 0.5,
		CPUTime: 0.125, Left: 1, Killed: 2, PeakMemory: 4 << 20, PeakTree: 5 << 30, Model: "m", ModelAsked: "n", Provider: "anthropic", HTTPStatus: 529, Requests: 3, BelayCode: new(124), FirstToken: 0.75, InnerRetries: 2,
		Tools: []Tool{{"Bash", 2, 1.5}, {"a]b", 1, 0}}, ToolCalls: []ToolCall{{"Bash", 0.5, 1}, {"a]b", 1, 0}}, ToolsCut: 7, Check: &Check{Round: 1, ExitCode: 2, Time: 0.5},
		Parent: "01a1dddf-2699-7e0f-b6ac-b8cbd5705481", Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Telemetry: new(true),
		Name: "nightly", Tags: map[string]string{"team": "a}b", "env": "ci"}, Project: "/home/me/app",
		Batch: "/home/me/app/answers.jsonl", Task: "q7", Line: 12,
		Kind: Hook, Event: "PreToolUse", Detail: json.RawMessage(`{"a":["b"]}`)}
}

func TestDecode_TakesWhatALogWrites(t *testing.T) {
	plain := full()
	plain.Error, plain.Usage, plain.Kind, plain.Event, plain.Detail = "", nil, "", "", nil
	for name, e := range map[string]Entry{"full": full(), "plain": plain, "least": {Timestamp: full().Timestamp, Invocation: "x"}} {
		line := encode(e, nil, false)
		var got, want Entry
		if !decode(line, &got) {
			t.Errorf("%s is left to encoding/json: %s", name, line)
		}
		if err := json.Unmarshal(line, &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v (%v)", name, got, want, err)
		}
	}
}

// What decode takes, encoding/json takes in the same way.
func FuzzDecode(f *testing.F) {
	f.Add(string(encode(full(), nil, false)))
	f.Add(`{"timestamp":"2026-11-15T12:00:00Z","invocation":"a","attempt":01}`)
	f.Add(`{"belay_exit_code":0,"tools":[{"name":"Bash","count":1,"time":0.5}],"tools":[{"name":"x"}],"tool_calls":[],"tools_cut":1}`)
	f.Add(`{"belay_exit_code":null,"tools":null,"tool_calls":[{"Name":"]"}]}`)
	f.Add(`{"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01","parent":"p","parent":""}`)
	f.Add(`{"retryable":true,"provider":"x","http_status":500}`)
	f.Add(`{"retryable":truefalse}`)
	f.Add(`{"retryable":falsetrue}`)
	f.Add(`{"response_time":1.,"wait_time":-0,"cpu_time":.5}`)
	f.Add(`{"usage":{},"usage":{"a":[1,{"b":"\u00e9"}]}}`)
	f.Add(`{"error":"` + strings.Repeat("x", 100) + "\xff\"}")
	f.Fuzz(func(t *testing.T, line string) {
		var got, want Entry
		if !decode([]byte(line), &got) {
			return
		}
		if err := json.Unmarshal([]byte(line), &want); err != nil {
			t.Fatalf("%q is taken, but is no JSON: %v", line, err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%q:\ngot  %+v\nwant %+v", line, got, want)
		}
	})
}

// Whatever is in an entry, its line is short and can be read; tools are given up before what happened is.
func TestEncode_StaysBelow4K(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for n := range 8 {
		long := func(longest int) string {
			return strings.Repeat([]string{"x", "\x01", "\xff", "€", "\"\\<", "\n"}[rnd.IntN(6)], rnd.IntN(longest)+1)
		}
		e := full()
		for value, i := reflect.ValueOf(&e).Elem(), 0; i < value.NumField(); i++ {
			switch v := value.Field(i); v.Kind() {
			case reflect.String:
				v.SetString(long([]int{10, 300, 3000}[rnd.IntN(3)]))
			case reflect.Float64:
				v.SetFloat(rnd.ExpFloat64() * 1e6)
			}
		}
		quoted, _ := json.Marshal(long(5000))
		e.Usage, e.Detail = json.RawMessage(`{"a":`+string(quoted)+`}`), json.RawMessage(`{"a":`+string(quoted)+`}`)
		e.Tools, e.ToolCalls = nil, nil
		for i := range rnd.IntN(200) {
			e.Tools = append(e.Tools, Tool{long(70), i, rnd.ExpFloat64()})
			e.ToolCalls = append(e.ToolCalls, ToolCall{long(70), rnd.ExpFloat64() * 1e6, rnd.ExpFloat64()})
		}
		line := encode(e, nil, false)
		if len(line) > maxLine || bytes.Count(line, []byte("\n")) != 1 {
			t.Fatalf("entry %d: a line of %d bytes: %.300s", n, len(line), line)
		}
		got := Parse(line).Entry
		if got == nil || got.Attempt != e.Attempt || got.ExitCode != e.ExitCode || *got.BelayCode != *e.BelayCode || got.Requests != e.Requests {
			t.Fatalf("entry %d: %s", n, line)
		}
		if len(got.Tools) > 0 && len(redact.Text(e.Error)) < 4000 && len(got.Error) < len(redact.Text(e.Error))/2 {
			t.Errorf("entry %d: tools are left, and of the error %d bytes of %d", n, len(got.Error), len(e.Error))
		}
		if len(got.ToolCalls)+got.ToolsCut != len(e.ToolCalls)+e.ToolsCut {
			t.Errorf("entry %d: %d calls and %d cut of %d", n, len(got.ToolCalls), got.ToolsCut, len(e.ToolCalls)+e.ToolsCut)
		}
		if uses(got.Tools) != uses(e.Tools) && len(got.Tools) > 0 {
			t.Errorf("entry %d: %d uses are left of %d", n, uses(got.Tools), uses(e.Tools))
		}
	}
}

func uses(tools []Tool) (n int) {
	for _, one := range tools {
		n += one.Count
	}
	return n
}

// As many tools as an agent is ever seen to use, with names as long as they can be, fit in beside what happened.
func TestEncode_ManyTools(t *testing.T) {
	e := full()
	e.Model, e.Error = strings.Repeat("m", 100), strings.Repeat("e", 1000)
	e.Tools, e.ToolCalls, e.ToolsCut = nil, nil, 180
	for i := range 20 {
		name := fmt.Sprintf("mcp__%s__%02d", strings.Repeat("n", 50), i)
		e.Tools, e.ToolCalls = append(e.Tools, Tool{name, 10, 1.234}), append(e.ToolCalls, ToolCall{name, 1234.567, 1.234})
	}
	e.Tools = append(e.Tools, Tool{otherTools, 0, 0})
	line := encode(e, nil, false)
	got := Parse(line).Entry
	if len(line) > maxLine || got == nil || got.Error != e.Error || got.Model != e.Model {
		t.Fatalf("%s", line)
	}
	if len(got.ToolCalls)+got.ToolsCut != 200 || uses(got.Tools) != 200 || len(got.Tools) < 5 {
		t.Errorf("%d calls and %d cut, %d uses of %d tools", len(got.ToolCalls), got.ToolsCut, uses(got.Tools), len(got.Tools))
	}
}
