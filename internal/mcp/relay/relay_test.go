package relay

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/mcp/wire"
	"github.com/belay-run/belay/verdict"
)

// workbench is a relay whose pipes, processes and timers are the test.
type workbench struct {
	t *testing.T
	*Relay
	client, server []string // what has been sent to each
	diverted       []string
	incidents      []Incident
	starts         []int // generations
	stops          int
	inputClosed    bool
	over           bool
	at             time.Time
}

func (w *workbench) ToClient(parts ...[]byte) {
	w.client = append(w.client, string(bytes.Join(parts, nil)))
}
func (w *workbench) ToServer(parts ...[]byte) {
	w.server = append(w.server, string(bytes.Join(parts, nil)))
}
func (w *workbench) Divert(m *wire.Message) { w.diverted = append(w.diverted, string(m.Bytes())) }
func (w *workbench) Start(g int)            { w.starts = append(w.starts, g) }
func (w *workbench) Stop(int)               { w.stops++ }
func (w *workbench) CloseInput()            { w.inputClosed = true }
func (w *workbench) Done()                  { w.over = true }
func (w *workbench) Wake(t time.Time)       { w.at = t }
func (w *workbench) Record(r Incident)      { w.incidents = append(w.incidents, r) }

// in runs a test in fake time with a relay whose first server runs.
func in(t *testing.T, opt Settings, test func(w *workbench)) {
	t.Helper()
	inShared(t, opt, nil, test)
}

// inShared is in with a gate.
func inShared(t *testing.T, opt Settings, g *gate.Gate, test func(w *workbench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &workbench{t: t}
		opt.Name = "srv"
		w.Relay = New(&opt, Shared{Gate: g, Rand: func() float64 { return 1 }}, w)
		w.Relay.Start()
		w.Started(w.Generation(), 100)
		test(w)
	})
}

// pass lets time pass, with all that is due in it.
func (w *workbench) pass(d time.Duration) {
	for end := time.Now().Add(d); ; {
		if w.at.IsZero() || w.at.After(end) {
			time.Sleep(time.Until(end))
			return
		}
		time.Sleep(time.Until(w.at))
		w.at = time.Time{}
		w.Tick()
		if n := len(w.starts); n > 0 && w.life.phase == starting {
			w.Started(w.starts[n-1], 100+n)
		}
	}
}

// serve lets time pass until a server has all that waits.
func (w *workbench) serve() {
	if w.life.phase == starting {
		w.Started(w.Generation(), 100)
	}
	for len(w.Relay.server.outbox.lines) > 0 && !w.at.IsZero() {
		w.pass(time.Until(w.at))
	}
}

func (w *workbench) says(format string, args ...any) {
	m := wire.Parse(fmt.Appendf(nil, format, args...))
	w.FromClient(&m)
}

func (w *workbench) answers(format string, args ...any) {
	m := wire.Parse(fmt.Appendf(nil, format, args...))
	w.FromServer(w.Generation(), &m)
}

func (w *workbench) crash() { w.Died(w.Generation(), Death{Status: "exit status 1", Tail: "boom"}) }

// sent returns what the server has got since the last time, got what the client has.
func (w *workbench) sent() string { s := strings.Join(w.server, "\n"); w.server = nil; return s }
func (w *workbench) got() string  { s := strings.Join(w.client, "\n"); w.client = nil; return s }

func (w *workbench) want(what, got, want string) {
	w.t.Helper()
	if got != want {
		w.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

func (w *workbench) has(what, got string, parts ...string) {
	w.t.Helper()
	for _, p := range parts {
		if !strings.Contains(got, p) {
			w.t.Errorf("%s: %q\nis not in\n%s", what, p, got)
		}
	}
}

const (
	initialize  = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}`
	initResult  = `{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}}}}`
	initialized = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	toolsResult = `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"set","annotations":{"idempotentHint":true}},{"name":"add"}]}}`
)

func (w *workbench) handshake() {
	w.says("%s", initialize)
	w.answers("%s", initResult)
	w.says("%s", initialized)
	w.says(`{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
	w.answers(toolsResult, `"tools"`)
	w.sent()
	w.got()
}

func call1(id, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q}}`, id, tool)
}

func TestRelay_ForwardsAsWritten(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		line := `{ "method":"tools/call", "id" : "1","jsonrpc":"2.0","params":{"name":"x","arguments":{"a": 1.0}}}` + "\r"
		w.says("%s", line)
		w.want("request", w.sent(), line)
		answer := `{"id":"1", "jsonrpc":"2.0","result":{"n":1.0}}`
		w.answers("%s", answer)
		w.want("answer", w.got(), answer)
		// A second answer to the same call is dropped.
		w.answers("%s", answer)
		w.want("second answer", w.got(), "")
	})
}

func TestRelay_HandshakeIsRepeated(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
		w.answers(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		for i, uri := range []string{"a", "b"} {
			w.says(`{"jsonrpc":"2.0","id":%d,"method":"resources/subscribe","params":{"uri":%q}}`, 10+i, uri)
			w.answers(`{"jsonrpc":"2.0","id":%d,"result":{}}`, 10+i)
		}
		w.says(`{"jsonrpc":"2.0","id":12,"method":"resources/unsubscribe","params":{"uri":"a"}}`)
		w.answers(`{"jsonrpc":"2.0","id":12,"result":{}}`)
		w.sent()
		w.got()
		w.crash()
		w.pass(100 * time.Millisecond)
		w.says("%s", call1("20", "add"))
		first := w.sent()
		w.has("first", first, `"method":"initialize","params":{"protocolVersion":"2025-11-25"}`, `"id":"belay-init-`)
		if strings.Contains(first, "tools/call") {
			t.Error("the call did not wait")
		}
		id := wire.Parse([]byte(first)).Envelope.ID
		w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, id)
		second := w.sent()
		w.has("second", second, initialized, `"level":"info"`, `"uri":"b"`)
		if strings.Contains(second, "tools/call") || strings.Contains(second, `"uri":"a"`) {
			t.Error(second)
		}
		for _, line := range strings.Split(second, "\n")[1:] {
			w.answers(`{"jsonrpc":"2.0","id":%s,"result":{}}`, wire.Parse([]byte(line)).Envelope.ID)
		}
		w.has("third", w.sent(), call1("20", "add"))
		w.want("client", w.got(), "")
	})
}

func TestRelay_AnotherVersionIsAnotherServer(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.crash()
		w.pass(100 * time.Millisecond)
		w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05"}}`, wire.Parse([]byte(w.sent())).Envelope.ID)
		if w.stops != 1 {
			t.Error("it was kept")
		}
	})
}

func TestRelay_CrashAnswersOrRepeats(t *testing.T) {
	for tool, tt := range map[string]struct {
		opt    Settings
		again  bool
		before func(*workbench)
	}{
		"add":  {},
		"look": {again: true},
		"set":  {again: true},
		"nil":  {},
	} {
		in(t, tt.opt, func(w *workbench) {
			w.handshake()
			w.says("%s", call1("7", tool))
			w.crash()
			answer := w.got()
			if !tt.again {
				w.has(tool, answer, `"id":7,"result"`, `"isError":true`, "exit status 1", "boom")
				return
			}
			w.want(tool, answer, "")
			w.pass(100 * time.Millisecond)
			w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, wire.Parse([]byte(w.server[len(w.server)-1])).Envelope.ID)
			w.pass(time.Second)
			retried := ""
			for _, line := range w.server {
				if strings.Contains(line, `"tools/call"`) {
					retried = line
				}
			}
			id := wire.Parse([]byte(retried)).Envelope.ID
			w.want("retried", strings.Replace(retried, string(id), "7", 1), call1("7", tool))
			if tool == "set" { // what the client cancels is cancelled under the id that the server knows
				w.sent()
				w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`)
				w.want("cancelled", w.sent(), fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
			}
			w.got()
			w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"ok":1}}`, id)
			w.want("answer", w.got(), `{"jsonrpc":"2.0","id":7,"result":{"ok":1}}`)
		})
	}
}

// Seed 003: a call is repeated up to three times, after 1, 2 and 4 s, if that is safe. What opens the session is repeated once, and a
// call that takes long is not repeated beyond what its client waits for.
func TestRelay_CallRetries(t *testing.T) {
	const read, open = "resources/read", "initialize"
	for name, tt := range map[string]struct {
		opt    Settings
		method string
		takes  time.Duration // until the server crashes
		want   []time.Duration
	}{
		"Default":     {Settings{}, read, 0, []time.Duration{1, 2, 4}},
		"One":         {Settings{CallRetries: 1}, read, 0, []time.Duration{1}},
		"Five":        {Settings{CallRetries: 5}, read, 0, []time.Duration{1, 2, 4, 8}}, // and 16 s more would be too late
		"None":        {Settings{CallRetries: -1}, read, 0, nil},
		"NoRetry":     {Settings{CallRetries: 5, NoRetry: true}, read, 0, nil},
		"ShortLimit":  {Settings{Timeout: 2 * time.Second}, read, time.Second, []time.Duration{2, 3, 5}},
		"LongCall":    {Settings{}, read, 20 * time.Second, []time.Duration{21}},
		"MediumCall":  {Settings{}, read, 10 * time.Second, []time.Duration{11, 12}},
		"NoLimit":     {Settings{Timeout: Never}, read, time.Hour, []time.Duration{3601, 3602, 3604}},
		"Unsafe":      {Settings{}, "tools/call", 0, nil},
		"Opening":     {Settings{}, open, 0, []time.Duration{0}},
		"OpeningNone": {Settings{NoRetry: true}, open, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, tt.opt, func(w *workbench) {
				w.says(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"uri":"x","name":"add"}}`, tt.method)
				last, waits := time.Now(), []time.Duration(nil)
				for w.sent(); w.calls.busy(); {
					w.pass(tt.takes)
					w.Died(w.Generation(), Death{Status: "exit status 1", Uptime: stable}) // or it would not be started again at once
					for w.calls.busy() && !strings.Contains(w.sent(), tt.method) {
						w.pass(100 * time.Millisecond)
					}
					if w.calls.busy() {
						waits = append(waits, time.Since(last).Truncate(time.Second)/time.Second)
						last = time.Now()
					}
				}
				if fmt.Sprint(waits) != fmt.Sprint(tt.want) {
					t.Errorf("sent again after %v, want %v", waits, tt.want)
				}
				got := w.got()
				w.has("answer", got, `"id":1,`)
				if r := w.incidents[len(w.incidents)-2]; r.retries != len(tt.want) || r.passing {
					t.Errorf("on record: %+v\n%s", r, got)
				}
			})
		})
	}
}

// What has shown that it had begun is not repeated.
func TestRelay_BegunIsNotRepeated(t *testing.T) {
	in(t, Settings{CallRetries: 1}, func(w *workbench) {
		w.says(`{"jsonrpc":"2.0","id":"t","method":"tools/list"}`)
		w.answers(toolsResult, `"t"`)
		w.got()
		w.says(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`)
		w.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"look","_meta":{"progressToken":5}}}`)
		w.answers(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}`)
		w.got()
		w.crash()
		w.has("it had begun", w.got(), `"id":2,"result"`, `"isError":true`)
		w.pass(time.Second)
		w.crash()
		w.has("twice lost", w.got(), `"id":1,"error":{"code":-32000`)
	})
}

func TestRelay_NoRetry(t *testing.T) {
	in(t, Settings{NoRetry: true}, func(w *workbench) {
		w.says(`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x"}}`)
		w.crash()
		w.has("lost", w.got(), `"id":1,"error":{"code":-32000`)
	})
	in(t, Settings{RetryTools: map[string]bool{"add": true, "look": false}}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		w.says("%s", call1("2", "look"))
		w.crash()
		if got := w.got(); strings.Contains(got, `"id":1`) || !strings.Contains(got, `"id":2`) {
			t.Error(got)
		}
	})
}

func TestRelay_Timeout(t *testing.T) {
	in(t, Settings{ToolTimeouts: map[string]time.Duration{"slow": time.Minute, "endless": Never}}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		w.says("%s", call1("2", "slow"))
		w.says("%s", call1("3", "endless"))
		w.sent()
		w.pass(29 * time.Second)
		w.want("too early", w.got(), "")
		w.pass(2 * time.Second)
		w.has("answer", w.got(), `"id":1,"result"`, `"isError":true`, "within 30s")
		w.has("cancelled", w.sent(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timeout"}}`, `"method":"ping"`)
		w.answers(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.want("late", w.got(), "")
		w.pass(40 * time.Second)
		w.has("the slow one", w.got(), `"id":2,"result"`, "within 1m and")
		w.answers(`{"jsonrpc":"2.0","id":3,"result":{}}`)
		w.has("the endless one", w.got(), `"id":3,"result"`)
	})
	// Progress is a sign of life, but not for ever.
	in(t, Settings{Timeout: 5 * time.Second, MaxTimeout: 13 * time.Second}, func(w *workbench) {
		w.handshake()
		w.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":5}}}`)
		for range 3 {
			w.pass(4 * time.Second)
			w.answers(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5,"progress":1}}`)
		}
		if got := w.got(); strings.Contains(got, `"id":1`) {
			t.Error(got)
		}
		w.pass(2 * time.Second)
		w.has("too long in all", w.got(), `"id":1,"result"`, `"isError":true`)
	})
}

// A busy server is not a hung one: it has as long as a call to give a sign of life, and calls wait meanwhile.
func TestRelay_Hung(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		w.pass(30 * time.Second)
		w.sent()
		w.got()
		w.says("%s", call1("2", "add"))
		w.want("held back", w.sent(), "")
		w.pass(29 * time.Second)
		if w.stops != 0 {
			t.Error("it was not given the time")
		}
		w.answers(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
		w.has("released", w.sent(), call1("2", "add"))
		w.got()
		w.pass(30 * time.Second) // call 2 is over, and now it is silent for good
		w.says("%s", call1("3", "add"))
		w.pass(30 * time.Second)
		if w.stops != 1 {
			t.Error("it still runs")
		}
		w.got()
		w.crash()
		w.want("nothing was lost", w.got(), "")
		w.pass(100 * time.Millisecond)
		w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, wire.Parse([]byte(w.server[len(w.server)-1])).Envelope.ID)
		w.has("the new server gets it", w.sent(), call1("3", "add"))
	})
}

// A server that uses too much memory is restarted, but in no call.
func TestRelay_Overweight(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		if w.Overweight(w.Generation(), "used 2 GB"); w.stops != 0 {
			t.Error("it was ended in a call")
		}
		w.answers(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		w.got()
		w.Overweight(w.Generation()-1, "used 2 GB")
		if w.Overweight(w.Generation(), "used 2 GB"); w.stops != 1 {
			t.Error("it still runs")
		}
		w.crash()
		last := w.incidents[len(w.incidents)-1]
		if last.event != "memory" || last.class != verdict.Resources || !last.serverFailed() || !strings.Contains(last.text, "used 2 GB and was terminated") {
			t.Errorf("%+v", last)
		}
		w.pass(100 * time.Millisecond)
		w.want("started again", fmt.Sprint(w.starts), "[1 2]")
	})
	in(t, Settings{NoRestart: true}, func(w *workbench) {
		w.handshake()
		if w.Overweight(w.Generation(), "used 2 GB"); w.stops != 0 {
			t.Error("what would be lost was ended")
		}
	})
}

func TestRelay_ServerRequests(t *testing.T) {
	ask := `{"jsonrpc":"2.0","id":1,"method":"sampling/createMessage","params":{}}`
	answer := `{"jsonrpc":"2.0","id":%s,"result":{"x":1}}`
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add")) // the same id in the other direction is another one
		w.answers("%s", ask)
		w.want("as written", w.got(), ask)
		w.sent()
		w.pass(time.Minute) // it is the client that takes its time
		w.want("no timeout", w.got(), "")
		w.says(answer, "1")
		w.want("answer", w.sent(), fmt.Sprintf(answer, "1"))
		w.answers("%s", ask)
		w.got()
		w.crash()
		w.has("taken back", w.got(), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,`)
		w.pass(100 * time.Millisecond)
		w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25"}}`, wire.Parse([]byte(w.server[len(w.server)-1])).Envelope.ID)
		w.sent()
		w.answers("%s", ask)
		again := w.got()
		id := string(wire.Parse([]byte(again)).Envelope.ID)
		if id == "1" {
			t.Error("the ids of two servers are not kept apart")
		}
		w.says(answer, "1") // to the first server
		w.want("too late", w.sent(), "")
		w.says(answer, id)
		w.want("answer", w.sent(), fmt.Sprintf(answer, "1"))
	})
}

// In the new era nothing is repeated but what the client listens to, under the same id.
func TestRelay_Modern(t *testing.T) {
	listen := `{"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`
	ack := `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`
	in(t, Settings{}, func(w *workbench) {
		w.says(`{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		w.answers(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{},"prompts":{"listChanged":false,"x":1}}}}`)
		w.want("promise", w.got(), `{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true,"x":1}}}}`)
		w.says("%s", listen)
		w.answers("%s", ack)
		w.want("acknowledged", w.got(), ack)
		w.pass(24 * time.Hour) // it is meant to last
		w.says(`{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}}`)
		w.answers(toolsResult, "3")
		w.says(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"add","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
		w.sent()
		w.got()
		w.crash()
		w.has("answer", w.got(), `"id":4,"result"`, `"resultType":"complete"`)
		w.pass(100 * time.Millisecond)
		sent := strings.Split(w.sent(), "\n")
		w.want("listens again", sent[0], listen)
		w.answers("%s", ack)
		w.want("the client knows", w.got(), "")
		w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[]}}`, wire.Parse([]byte(sent[1])).Envelope.ID)
		w.want("announcement", w.got(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}`)
		w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
		w.crash()
		w.pass(time.Minute)
		if strings.Contains(w.sent(), "subscriptions/listen") {
			t.Error("it was cancelled")
		}
	})
}

func TestRelay_Batches(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.says(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}`)
		w.answers(`{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{}}}`)
		w.sent()
		w.got()
		w.says(`[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","method":"x"}]`)
		w.want("one by one", w.sent(), `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"+`{"jsonrpc":"2.0","method":"x"}`)
		w.answers(`[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"y"}]`)
		w.want("one by one", w.got(), `{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"+`{"jsonrpc":"2.0","method":"y"}`)
		w.answers(`[{"jsonrpc":"2.0","id":1,"result":{}},{"level":"info"}]`)
		w.want("not one", w.got(), "")
		if len(w.diverted) != 1 {
			t.Errorf("%q", w.diverted)
		}
	})
}

// A server that keeps dying is restarted ever later, and not at all while no call waits; one that works resets that.
func TestRelay_CrashLoop(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.crash()
		var gaps []time.Duration
		for last := time.Now(); len(gaps) < 2; {
			w.says("%s", call1(fmt.Sprintf("%d", 100+len(gaps)), "add"))
			w.pass(time.Until(w.life.restartAt))
			gaps = append(gaps, time.Since(last))
			last = time.Now()
			w.crash()
		}
		if gaps[0] != 100*time.Millisecond || gaps[1] != 200*time.Millisecond {
			t.Errorf("%v", gaps)
		}
		for range 10 { // it does not take up the session either, and is ended
			w.pass(time.Hour)
			w.crash()
		}
		if w.calls.byID["100"] != nil || w.calls.byID["101"] != nil {
			t.Error("they wait for ever")
		}
		n := len(w.starts)
		w.got()
		w.pass(time.Hour)
		if len(w.starts) != n {
			t.Error("nobody has asked for it")
		}
		w.says("%s", call1("200", "add"))
		if len(w.starts) != n+1 {
			t.Error("somebody has")
		}
	})
}

func TestRelay_NoRestart(t *testing.T) {
	in(t, Settings{NoRestart: true}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "look"))
		w.crash()
		w.has("lost", w.got(), `"id":1,"result"`, "--no-restart")
		w.says("%s", call1("2", "look"))
		w.has("later", w.got(), `"id":2,"result"`, "--no-restart", "boom")
		w.pass(time.Hour)
		if len(w.starts) != 1 {
			t.Error("it was started again")
		}
	})
}

func TestRelay_CannotStart(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.Died(1, Death{Err: errors.New("srv: command not found")})
		for id := range 2 {
			w.says(`{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{}}`, id)
			w.Died(w.Generation(), Death{Err: errors.New("srv: command not found")})
			w.has("answer", w.got(), fmt.Sprintf(`"id":%d,"error":{"code":-32010`, id), "command not found")
		}
	})
}

// Five failures in a row open the breaker: calls are answered at once, with the time to try again.
func TestRelay_Breaker(t *testing.T) {
	store := &gate.Memory{}
	g := &gate.Gate{Store: store, Key: "mcp:srv", Rand: func() float64 { return 0 }}
	inShared(t, Settings{}, g, func(w *workbench) {
		w.says(`{"jsonrpc":"2.0","id":"x","method":"tools/list"}`)
		w.answers(toolsResult, `"x"`)
		for id := range 5 {
			w.says("%s", call1(fmt.Sprint(id), "add"))
			if w.life.phase != ready {
				w.pass(time.Until(w.life.restartAt))
			}
			w.crash()
		}
		w.got()
		w.pass(10 * time.Second)
		n := len(w.starts)
		w.says("%s", call1("9", "add"))
		w.has("refused", w.got(), `"id":9,"result"`, `"isError":true`, "keeps failing", "belay gates reset mcp:srv")
		if len(w.starts) != n {
			t.Error("it was started")
		}
		w.pass(time.Minute)
		w.says("%s", call1("10", "add"))
		w.Started(w.Generation(), 1)
		w.answers(`{"jsonrpc":"2.0","id":10,"result":{}}`)
		w.has("half open", w.got(), `"id":10,"result":{}`)
	})
}

// The breaker counts calls, as events and alerts do: the fifth that fails opens it, whatever they fail of, and each is an event.
// A call that hung was counted twice, and one that was repeated as often as the server crashed; the crash before a refusal was in
// no event.
func TestRelay_BreakerCountsCalls(t *testing.T) {
	// failing is a call that fails: it says what happens once the server has it.
	for name, tt := range map[string]struct {
		tool    string
		class   verdict.Class
		failing func(w *workbench)
	}{
		"Crash": {"add", verdict.Crash, func(w *workbench) { w.crash() }},
		"ReadOnlyCrash": {"look", verdict.Crash, func(w *workbench) {
			for w.calls.busy() {
				w.serve()
				w.crash()
			}
		}},
		"Hang": {"add", verdict.Timeout, func(w *workbench) {
			w.pass(30 * time.Second)
			w.pass(30 * time.Second)
			w.Died(w.Generation(), Death{Status: "signal: killed", Uptime: time.Minute}) // as it was told to
		}},
		"HangOn": {"add", verdict.Timeout, func(w *workbench) { // it answers the ping, and no call
			w.pass(30 * time.Second)
			w.answers(`{"jsonrpc":"2.0","id":%s,"result":{}}`, wire.Parse([]byte(w.server[len(w.server)-1])).Envelope.ID)
		}},
		"NoStart": {"add", verdict.Crash, func(w *workbench) {
			for w.calls.busy() {
				w.crash()
				w.pass(time.Until(w.life.restartAt))
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			g := &gate.Gate{Store: &gate.Memory{}, Key: "mcp:srv", Rand: func() float64 { return 0 }}
			inShared(t, Settings{}, g, func(w *workbench) {
				w.says(`{"jsonrpc":"2.0","id":"x","method":"tools/list"}`)
				w.answers(toolsResult, `"x"`)
				for id := range 6 {
					w.got()
					w.says("%s", call1(fmt.Sprint(id), tt.tool))
					if name != "NoStart" {
						w.serve()
					}
					if got := w.got(); (id == 5) != strings.Contains(got, "keeps failing") {
						t.Fatalf("call %d: %s", id, got)
					} else if id < 5 {
						tt.failing(w)
						w.has(name, w.got(), fmt.Sprintf(`"id":%d,"result"`, id), `"isError":true`)
					}
				}
				events := 0
				for _, r := range w.incidents {
					if r.event == "tool_error" && r.class == tt.class {
						events++
					} else if !r.passing && r.class != verdict.BreakerOpen {
						t.Errorf("also an event: %+v", r)
					}
				}
				if events != 5 {
					t.Errorf("%d events", events)
				}
			})
		})
	}
}

// A call that waits to be sent again has failed, and is an event, also if the breaker refuses it by then because of other calls.
func TestRelay_LostCallIsRefused(t *testing.T) {
	g := &gate.Gate{Store: &gate.Memory{}, Key: "mcp:srv", Rand: func() float64 { return 0 }}
	inShared(t, Settings{}, g, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "look"))
		w.crash()
		for i := range 5 { // the servers of other proxies
			if pass, _ := g.Enter(fmt.Sprint("other/", i)); pass != nil {
				pass.Failed("crash")
			}
		}
		w.pass(5 * time.Second)
		w.has("refused", w.got(), `"id":1,"result"`, "keeps failing")
		if r := w.incidents[len(w.incidents)-1]; r.event != "tool_error" || r.class != verdict.Crash || r.passing {
			t.Errorf("on record: %+v", r)
		}
	})
}

func TestRelay_ClientLeaves(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		w.ClientGone()
		if w.inputClosed {
			t.Error("a call is under way")
		}
		w.answers(`{"jsonrpc":"2.0","id":1,"result":{}}`)
		if !w.inputClosed {
			t.Error("nobody waits any more")
		}
		w.Died(w.Generation(), Death{})
		if !w.over || len(w.starts) != 1 {
			t.Error("that was the end")
		}
	})
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.says("%s", call1("1", "add"))
		w.ClientGone()
		w.pass(3 * time.Second)
		if !w.inputClosed {
			t.Error("it was waited for too long")
		}
		w.Died(w.Generation(), Death{Status: "exit status 0"})
		w.has("answered all the same", w.got(), `"id":1`)
	})
}

// A client that leaves while no server is there gets the answers that it waits for, and no server is started for it any more.
func TestRelay_ClientLeavesWhileTheServerIsDown(t *testing.T) {
	for name, end := range map[string]func(*workbench){
		"Crashes":   func(w *workbench) { w.crash() },
		"Hangs":     func(w *workbench) { w.deadlines.hung(); w.crash() },
		"Forgotten": func(w *workbench) { w.Died(w.Generation(), Death{Forgotten: true, Remote: true}) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, Settings{}, func(w *workbench) {
				w.handshake()
				w.crash()
				w.pass(time.Until(w.life.restartAt))
				end(w)
				if w.life.phase != down {
					t.Fatal("there is a server")
				}
				w.life.restartAt = time.Now().Add(time.Minute) // as after many deaths
				w.got()
				w.says("%s", call1("1", "add"))
				w.says(`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
				w.ClientGone()
				n := len(w.starts)
				w.pass(drain)
				got := w.got()
				if strings.Count(got, `"id":1,`) != 1 || strings.Count(got, `"id":2,`) != 1 || !w.over {
					t.Errorf("over %v, %s", w.over, got)
				}
				if w.pass(time.Hour); len(w.starts) > n {
					t.Errorf("%d servers were started for a client that has left", len(w.starts)-n)
				}
			})
		})
	}
}

func TestRelay_CancelledBeforeItWasSent(t *testing.T) {
	in(t, Settings{}, func(w *workbench) {
		w.handshake()
		w.crash()
		w.says("%s", call1("1", "add"))
		w.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		w.pass(time.Minute)
		if strings.Contains(w.sent(), "tools/call") || strings.Contains(w.got(), `"id":1,`) {
			t.Error("it was cancelled")
		}
	})
}

// Whatever the two sides say, and whenever the server dies: each id is answered at most once, and exactly once when all
// is over.
func FuzzRelay(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b"))
	f.Add([]byte("\x01\x01\x08\x01\x02\x08\x03\x04\x05\x08\x06"))
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) > 300 {
			return
		}
		in(t, Settings{}, func(w *workbench) {
			asked := map[string]bool{}
			next := 0
			for _, b := range script {
				id := fmt.Sprint(next)
				switch b % 12 {
				case 0:
					w.says(`{"jsonrpc":"2.0","id":%s,"method":"initialize","params":{}}`, id)
					asked[id] = true
					next++
				case 1, 2, 3:
					w.says("%s", call1(id, []string{"add", "look", "set"}[b%3]))
					asked[id] = true
					next++
				case 4, 5: // the server answers what it was sent last
					if n := len(w.server); n > 0 {
						if e := wire.Parse([]byte(w.server[n-1])).Envelope; e.ID != nil {
							w.answers(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`, e.ID)
						}
						w.server = w.server[:n-1]
					}
				case 6:
					w.answers(`{"jsonrpc":"2.0","id":%d,"result":{}}`, int(b)%max(1, next))
				case 7:
					w.pass(time.Duration(b) * 200 * time.Millisecond)
				case 8:
					w.crash()
				case 9:
					w.says(`{"jsonrpc":"2.0","id":%s,"method":"tools/list"}`, id)
					asked[id] = true
					next++
				case 10:
					w.answers(`{"jsonrpc":"2.0","id":%d,"method":"roots/list"}`, b)
				case 11:
					w.answers("stray")
				}
				if w.life.phase == starting && len(w.server) == 0 && b%2 == 0 {
					w.Started(w.Generation(), 1)
				}
			}
			w.ClientGone()
			w.pass(5 * time.Second)
			w.Died(w.Generation(), Death{})
			answered := map[string]int{}
			for _, line := range w.client {
				if e := wire.Parse([]byte(line)).Envelope; e.IsResponse() {
					answered[string(e.ID)]++
				}
			}
			for id := range asked {
				if answered[id] != 1 {
					t.Fatalf("%s was answered %d times\n%q", id, answered[id], w.client)
				}
			}
			if !w.over && w.life.phase != down {
				t.Fatal("it does not end")
			}
		})
	})
}
