package journal

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// full is an entry with everything.
func full() Entry {
	at := Time{time.Date(2026, 11, 15, 12, 0, 0, 5e6, time.UTC)}
	return Entry{Timestamp: at, Invocation: "01a1dddf-2699-7e0f-b6ac-b8cbd5705482", Profile: "claude", Command: "claude", PromptHash: "abc", Attempt: 2,
		Status: Error, ErrorType: verdict.Network, Error: "connection reset, again", Rule: "r", ExitCode: -1, Signal: "SIGKILL", WaitTime: 1.5,
		ResponseTime: 0.25, RetryAt: at, Session: "s", Usage: json.RawMessage(`{"input_tokens":1,"x":{"y":"}\"{"}}`), Gate: "g", GateWait: 0.5,
		CPUTime: 0.125, Left: 1, Killed: 2, Model: "m", Requests: 3}
}

func TestDecode_TakesWhatALogWrites(t *testing.T) {
	plain := full()
	plain.Error, plain.Usage = "", nil
	for name, e := range map[string]Entry{"full": full(), "plain": plain, "least": {Timestamp: full().Timestamp, Invocation: "x"}} {
		line := encode(e)
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
	f.Add(string(encode(full())))
	f.Add(`{"timestamp":"2026-11-15T12:00:00Z","invocation":"a","attempt":01}`)
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
