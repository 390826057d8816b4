package telemetry_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/quota"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/telemetry"
	"github.com/belay-run/belay/internal/telemetry/otlptest"
	"github.com/belay-run/belay/internal/test/must"
	"github.com/belay-run/belay/internal/trace"
	"github.com/belay-run/belay/verdict"
)

var (
	ctx = context.Background()
	t0  = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
)

// world is a record, and a receiver for it.
type world struct {
	testing.TB
	db       *record.DB
	log      journal.Log
	receiver *otlptest.Receiver
	url      string
	env      map[string]string
}

func newWorld(t testing.TB) *world {
	dir := t.TempDir()
	d, err := record.Open(dir)
	must.OK(t, err)
	t.Cleanup(func() { d.Close() })
	w := &world{TB: t, db: d, log: journal.Log{Path: filepath.Join(dir, "log.jsonl")}, receiver: &otlptest.Receiver{}, env: map[string]string{}}
	server := w.receiver.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	w.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = server.URL
	return w
}

func (w *world) append(list ...journal.Entry) {
	w.Helper()
	for _, e := range list {
		if err := w.log.Append(e); err != nil {
			w.Fatal(err)
		}
	}
	if _, err := w.db.Fold(ctx); err != nil {
		w.Fatal(err)
	}
}

// send sends what waits.
func (w *world) send() (telemetry.Sent, error) {
	w.Helper()
	settings, err := telemetry.FromEnviron(func(name string) string { return w.env[name] })
	if err != nil {
		w.Fatal(err)
	}
	s := telemetry.Sender{DB: w.db, Settings: settings, Kinds: telemetry.Kinds{
		Agent: func(name string) bool { return name == "claude" }, Provider: func(string) string { return "anthropic" }}}
	defer s.Close()
	limited, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return s.Send(limited, true)
}

func (w *world) waiting() int64 {
	w.Helper()
	e, err := w.db.Outbox.Exporter(ctx)
	if err != nil {
		w.Fatal(err)
	}
	return e.Waiting
}

const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

// agentRun is a run of an agent that was overloaded, waited, and then used a tool.
func agentRun(id, traceparent string) []journal.Entry {
	cost := 0.25
	at := func(s float64) journal.Time {
		return journal.Time{Time: t0.Add(time.Duration(s * float64(time.Second)))}
	}
	first := journal.Entry{Timestamp: at(3), Invocation: id, Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Retry, ErrorType: verdict.Overloaded, Error: "SECRET-OUTPUT",
		Rule: "overloaded", ExitCode: 1, WaitTime: 2, ResponseTime: 2, GateWait: 1, Session: "s-1", Model: "opus", Gate: "api", Telemetry: new(true), Provider: "bedrock", Traceparent: traceparent,
		Usage: verdict.Usage{InputTokens: 10, OutputTokens: 1}.JSON()}
	second := first
	second.Timestamp, second.Attempt, second.Status, second.ErrorType, second.Error, second.Rule, second.ExitCode, second.WaitTime, second.GateWait = at(7), 2, journal.Success, "", "", "", 0, 0, 0
	second.BelayCode, second.Name, second.Tags = new(0), "nightly", map[string]string{"team": "web"}
	second.Usage = verdict.Usage{InputTokens: 100, OutputTokens: 20, CacheReadInputTokens: 1000, CostUSD: &cost}.JSON()
	second.ToolCalls = []journal.ToolCall{{Name: "Bash", Start: 0.5, Time: 1}, {Name: "Read", Start: 1.6, Time: 9}}
	return []journal.Entry{first, second}
}

func plainRun(id string) journal.Entry {
	return journal.Entry{Timestamp: journal.Time{Time: t0.Add(time.Minute)}, Invocation: id, Profile: "generic", Command: "make", Attempt: 1, Status: journal.Error,
		ErrorType: verdict.Network, Error: "SECRET-OUTPUT", ExitCode: 2, BelayCode: new(2), ResponseTime: 0.5, Telemetry: new(true), PromptHash: "abc"}
}

// shape is a trace in words.
func shape(w *world) string {
	byID, again := w.receiver.Distinct()
	var b strings.Builder
	if again > 0 {
		fmt.Fprintf(&b, "%d again\n", again)
	}
	for _, s := range w.receiver.Spans() {
		above := s.Parent()
		if p, ok := byID[above]; ok {
			above = p.Name
		}
		fmt.Fprintf(&b, "%s < %s %s+%s %s %v\n", s.Name, above, time.Duration(int64(s.StartTimeUnixNano)-t0.UnixNano()), time.Duration(s.EndTimeUnixNano-s.StartTimeUnixNano),
			strings.TrimPrefix(s.Kind.String(), "SPAN_KIND_"), s.Get("error.type"))
	}
	return b.String()
}

func TestTraces(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		for _, compression := range []string{"none", "gzip"} {
			t.Run(protocol+" "+compression, func(t *testing.T) {
				w := newWorld(t)
				w.env["OTEL_EXPORTER_OTLP_PROTOCOL"], w.env["OTEL_EXPORTER_OTLP_COMPRESSION"] = protocol, compression
				w.env["OTEL_EXPORTER_OTLP_HEADERS"], w.env["OTEL_RESOURCE_ATTRIBUTES"] = "x-key=a%20b", "deployment.environment=ci"
				w.append(agentRun("run-1", caller)...)
				w.append(plainRun("run-2"))
				sent, err := w.send()
				if err != nil || w.receiver.Trouble() != nil || sent.Runs != 2 || sent.Spans != 9 || w.waiting() != 0 {
					t.Fatalf("%+v %v %v, %d waiting", sent, err, w.receiver.Trouble(), w.waiting())
				}
				want := `invoke_agent claude < b7ad6b7169203331 0s+7s CLIENT <nil>
wait gate < invoke_agent claude 0s+1s INTERNAL <nil>
attempt 1 < invoke_agent claude 1s+2s INTERNAL overloaded
wait backoff < invoke_agent claude 3s+2s INTERNAL <nil>
attempt 2 < invoke_agent claude 5s+2s INTERNAL <nil>
execute_tool Bash < attempt 2 5.5s+1s INTERNAL <nil>
execute_tool Read < attempt 2 6.6s+400ms INTERNAL <nil>
generic <  59.5s+500ms INTERNAL network
attempt 1 < generic 59.5s+500ms INTERNAL network
`
				if got := shape(w); got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
				spans := w.receiver.Spans()
				root := spans[0]
				for name, want := range map[string]any{"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "aws.bedrock", "gen_ai.request.model": "opus", "gen_ai.response.model": "opus",
					"gen_ai.agent.name": "claude", "gen_ai.conversation.id": "s-1", "gen_ai.usage.input_tokens": int64(1110), "gen_ai.usage.output_tokens": int64(21),
					"gen_ai.usage.cache_read.input_tokens": int64(1000), "belay.attempts": int64(2), "belay.class": "ok", "belay.wait": 3.0, "belay.name": "nightly", "belay.tag.team": "web",
					"belay.run.id": "run-1", "belay.exit_code": int64(0)} {
					if got := root.Get(name); got != want {
						t.Errorf("%s is %v, want %v", name, got, want)
					}
				}
				if root.Trace() != "0af7651916cd43dd8448eb211c80319c" || spans[2].ID() != trace.OfAttempt("run-1", caller, 1).Span {
					t.Errorf("%s %s", root.Trace(), spans[2].ID())
				}
				for name, want := range map[string]any{"service.name": "belay", "deployment.environment": "ci"} {
					if got := w.receiver.Resource()[name]; got != want {
						t.Errorf("%s is %v", name, got)
					}
				}
				if got := w.receiver.Headers()[0].Get("X-Key"); got != "a b" {
					t.Errorf("header %q", got)
				}
				for _, body := range w.receiver.Bodies() {
					if strings.Contains(string(body), "SECRET") {
						t.Errorf("output was sent: %q", body)
					}
				}
			})
		}
	}
}

func TestMetrics(t *testing.T) {
	w := newWorld(t)
	w.append(agentRun("run-1", "")...)
	w.append(plainRun("run-2"), journal.Entry{Timestamp: journal.Time{Time: t0}, Kind: journal.Hook, Event: "crash", Profile: "hook:fmt", Status: journal.Error, ErrorType: verdict.Crash})
	now := time.Now()
	must.OK(t, (&gate.Files{Dir: filepath.Join(filepath.Dir(w.log.Path), "gates")}).Update("claude:api", now, func(s gate.State) gate.State {
		s.Quota = s.Quota.Tell(now, now, "run", []quota.Window{{Name: "five_hour", Used: 0.5, Resets: now.Add(time.Hour)}})
		return s
	}))
	if _, err := w.send(); err != nil {
		t.Fatal(err)
	}
	got := w.receiver.Metrics()
	used := got["belay.quota.used"].GetGauge().GetDataPoints()
	if len(used) != 1 || used[0].GetAsDouble() != 0.5 || fmt.Sprint(otlptest.Attributes(used[0].Attributes)) != "map[belay.gate:claude:api belay.quota.window:five_hour]" || got["belay.quota.resets"] == nil || got["belay.quota.forecast"] != nil {
		t.Errorf("%v", got)
	}
	for name, want := range map[string]float64{"belay.runs": 2, "belay.attempts": 3, "belay.cost": 0.25, "belay.wait": 3, "belay.faults": 1,
		"gen_ai.client.operation.duration": 7, "gen_ai.client.token.usage": 1110 + 21} {
		if sum := otlptest.Sum(got[name]); sum != want {
			t.Errorf("%s is %v, want %v", name, sum, want)
		}
	}
	points := got["gen_ai.client.token.usage"].GetHistogram().GetDataPoints()
	kinds := map[any]bool{}
	for _, p := range points {
		a := otlptest.Attributes(p.Attributes)
		kinds[a["gen_ai.token.type"]] = true
		if len(p.ExplicitBounds) != 14 || len(p.BucketCounts) != 15 || p.Count != 2 || a["gen_ai.provider.name"] != "anthropic" || a["gen_ai.operation.name"] != "invoke_agent" {
			t.Errorf("%v", p)
		}
		if p.StartTimeUnixNano != uint64(t0.UnixNano()) {
			t.Errorf("it begins at %s", time.Unix(0, int64(p.StartTimeUnixNano)))
		}
	}
	if len(points) != 2 || !kinds["input"] || !kinds["output"] { // whatever the class
		t.Errorf("%v", points)
	}
}

// What was not taken is sent again, and what was is not.
func TestRetries(t *testing.T) {
	header := func(name, value string) http.Header { return http.Header{name: {value}} }
	for _, tt := range []struct {
		name, protocol string
		refusal        otlptest.Refusal
		requests       int // in all, of which the last two are taken
		fails          bool
	}{
		{"503", "http/protobuf", otlptest.Refusal{Status: 503}, 3, false},
		{"429 with a time", "http/protobuf", otlptest.Refusal{Status: 429, Header: header("Retry-After", "1")}, 3, false},
		{"429 for longer than there is time", "http/protobuf", otlptest.Refusal{Status: 429, Header: header("Retry-After", "60")}, 2, true},
		{"401", "http/protobuf", otlptest.Refusal{Status: 401}, 2, true},
		{"404", "http/protobuf", otlptest.Refusal{Status: 404}, 2, true},
		{"unavailable", "grpc", otlptest.Refusal{Status: 14}, 3, false},
		{"exhausted for a time", "grpc", otlptest.Refusal{Status: 8, Header: header("Grpc-Status-Details-Bin", otlptest.RetryInfo(100))}, 3, false},
		{"unauthenticated", "grpc", otlptest.Refusal{Status: 16, Header: header("Grpc-Message", "no%20key")}, 2, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = tt.protocol
			w.receiver.Refuse = func(_ *http.Request, n int) *otlptest.Refusal {
				if n == 1 {
					return &tt.refusal
				}
				return nil
			}
			w.append(plainRun("run-1"))
			_, err := w.send()
			if (err != nil) != tt.fails || w.receiver.Requests() != tt.requests || (w.waiting() == 1) != tt.fails {
				t.Errorf("%v, %d requests, %d waiting", err, w.receiver.Requests(), w.waiting())
			}
			state, _ := w.db.Outbox.Exporter(ctx)
			if (state.Trouble != "") != tt.fails {
				t.Errorf("%+v", state)
			}
			if _, err := w.send(); err != nil {
				t.Fatal(err)
			}
			if _, again := w.receiver.Distinct(); again > 0 || len(w.receiver.Spans()) != 2 || w.waiting() != 0 {
				t.Errorf("%d again, %d spans, %d waiting", again, len(w.receiver.Spans()), w.waiting())
			}
		})
	}
}

// A receiver that has taken a request and does not say so gets it again, with the same ids.
func TestSameIDs(t *testing.T) {
	w := newWorld(t)
	w.receiver.Refuse = func(_ *http.Request, n int) *otlptest.Refusal {
		if n == 1 {
			return &otlptest.Refusal{Status: 401, After: true}
		}
		return nil
	}
	w.append(agentRun("run-1", "")...)
	if _, err := w.send(); err == nil {
		t.Fatal("it was taken")
	}
	if _, err := w.send(); err != nil {
		t.Fatal(err)
	}
	byID, again := w.receiver.Distinct()
	if len(byID) != 7 || again != 7 {
		t.Errorf("%d spans, %d of them again", len(byID), again)
	}
}

// What a receiver rejects is told, and not sent again.
func TestPartialSuccess(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		w := newWorld(t)
		w.env["OTEL_EXPORTER_OTLP_PROTOCOL"], w.receiver.Reject = protocol, 2
		w.append(plainRun("run-1"))
		sent, err := w.send()
		state, _ := w.db.Outbox.Exporter(ctx)
		if err != nil || sent.Rejected != 4 || state.Rejected != 2 || state.Waiting != 0 || state.Trouble != "the receiver rejected 4 items: too many" {
			t.Errorf("%s: %+v %v %+v", protocol, sent, err, state)
		}
	}
}

// A run that a receiver will never take does not hold up the others.
func TestPoison(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		w := newWorld(t)
		w.env["OTEL_EXPORTER_OTLP_PROTOCOL"], w.env["OTEL_METRICS_EXPORTER"] = protocol, "none"
		status := map[string]int{"grpc": 3, "http/protobuf": 400}[protocol]
		large := 0
		w.receiver.Refuse = func(r *http.Request, _ int) *otlptest.Refusal {
			if r.ContentLength > 6000 {
				large++
				return &otlptest.Refusal{Status: status}
			}
			return nil
		}
		for i := range 10 {
			w.append(plainRun(fmt.Sprintf("run-%02d", i)))
		}
		sent, err := w.send()
		if err != nil || sent.Runs != 10 || w.waiting() != 0 || large == 0 || len(w.receiver.Spans()) != 20 {
			t.Errorf("%s: %+v %v, %d waiting, %d too large, %d spans", protocol, sent, err, w.waiting(), large, len(w.receiver.Spans()))
		}
	}
	w := newWorld(t)
	w.receiver.Refuse = func(r *http.Request, _ int) *otlptest.Refusal { return &otlptest.Refusal{Status: 413} }
	w.env["OTEL_METRICS_EXPORTER"] = "none"
	w.append(plainRun("run-1"))
	if sent, err := w.send(); err != nil || sent.Rejected != 2 || w.waiting() != 0 {
		t.Errorf("%+v %v", sent, err)
	}
}

// A trace that its caller does not record is not sent.
func TestUnsampled(t *testing.T) {
	w := newWorld(t)
	w.append(agentRun("run-1", strings.TrimSuffix(caller, "1")+"0")...)
	sent, err := w.send()
	if err != nil || len(w.receiver.Spans()) != 0 || w.waiting() != 0 {
		t.Errorf("%+v %v", sent, err)
	}
}

// The span of an attempt includes the check of its work, and says how that ended.
func TestChecks(t *testing.T) {
	w := newWorld(t)
	e := plainRun("run-1")
	e.ErrorType, e.Check = verdict.NotDone, &journal.Check{Round: 2, ExitCode: 1, Time: 1.5}
	w.append(e)
	if _, err := w.send(); err != nil {
		t.Fatal(err)
	}
	if got, want := shape(w), "generic <  58s+2s INTERNAL not_done\nattempt 1 < generic 58s+2s INTERNAL not_done\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for name, want := range map[string]any{"belay.check.round": int64(2), "belay.check.exit_code": int64(1), "belay.check.time": 1.5} {
		if got := w.receiver.Spans()[1].Get(name); got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func TestOff(t *testing.T) {
	for name, value := range map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none"} {
		w := newWorld(t)
		w.env[name], w.env["OTEL_METRICS_EXPORTER"] = value, "none"
		w.append(plainRun("run-1"))
		if _, err := w.send(); err != nil || w.receiver.Requests() != 0 {
			t.Errorf("%s: %v, %d requests", name, err, w.receiver.Requests())
		}
	}
}

// Neither a header nor a password of the address gets into a message.
func TestSecrets(t *testing.T) {
	w := newWorld(t)
	w.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = strings.Replace(w.url, "://", "://me:hunter2@", 1)
	w.env["OTEL_EXPORTER_OTLP_HEADERS"] = "api-key=hunter3"
	w.receiver.Refuse = func(r *http.Request, _ int) *otlptest.Refusal {
		return &otlptest.Refusal{Status: 401, Header: http.Header{"Grpc-Message": {r.Header.Get("Api-Key")}}}
	}
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		w.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = protocol
		w.append(plainRun("run-" + protocol))
		_, err := w.send()
		state, _ := w.db.Outbox.Exporter(ctx)
		text, _ := json.Marshal(state)
		if err == nil || strings.Contains(err.Error()+string(text), "hunter") {
			t.Errorf("%s: %v %s", protocol, err, text)
		}
	}
	if got := w.receiver.Headers()[0].Get("Authorization"); got != "Basic bWU6aHVudGVyMg==" {
		t.Errorf("%q", got)
	}
}

func TestUnreachable(t *testing.T) {
	w := newWorld(t)
	w.env["OTEL_EXPORTER_OTLP_ENDPOINT"], w.env["OTEL_EXPORTER_OTLP_TIMEOUT"] = "http://127.0.0.1:1", "300"
	w.append(plainRun("run-1"))
	if _, err := w.send(); err == nil || !strings.Contains(err.Error(), "connection refused") || w.waiting() != 1 {
		t.Errorf("%v", err)
	}
	w.env["OTEL_EXPORTER_OTLP_ENDPOINT"] = w.url
	w.receiver.Refuse = func(_ *http.Request, n int) *otlptest.Refusal {
		if n == 1 {
			return &otlptest.Refusal{Hang: true}
		}
		return nil
	}
	if _, err := w.send(); err != nil || w.waiting() != 0 {
		t.Errorf("%v", err)
	}
}
