//go:build linux

package record_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/clitest"
	"github.com/belay-run/belay/internal/e2e/stage"
	"github.com/belay-run/belay/internal/faulttest"
	"github.com/belay-run/belay/internal/telemetry/otlptest"
)

// Runs are sent once each, with the right attempts below them and the right tokens, whichever belayd is killed when.
func TestTelemetry(t *testing.T) {
	t.Parallel()
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		t.Run(protocol, func(t *testing.T) {
			t.Parallel()
			runs, agents := 15, 1
			if protocol == "grpc" {
				agents = 0 // what is sent is the same, whichever way it goes
			}
			if clitest.Full() {
				runs, agents = 110, 5
			}
			sendRuns(t, protocol, runs, agents)
		})
	}
}

func sendRuns(t *testing.T, protocol string, runs, agents int) {
	receiver := &otlptest.Receiver{}
	server := receiver.Start()
	defer server.Close()
	s := stage.Claude.New(t, "", "200(in=100, out=7)")
	s.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_EXPORTER_OTLP_PROTOCOL=" + protocol, "OTEL_EXPORTER_OTLP_COMPRESSION=gzip"}

	// What works in the background is killed all the time.
	random := faulttest.Random(t)
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		killed := 0
		for {
			select {
			case <-stop:
				stopped <- killed
				return
			case <-time.After(faulttest.N(random, 60*time.Millisecond)):
			}
			for _, p := range s.Left() {
				if strings.Contains(p.Args, "belayd --for") && random.IntN(3) > 0 {
					p.Kill()
					killed++
				}
			}
		}
	}()
	attempts, tokens := 0, int64(0)
	for n := range runs {
		if n < agents {
			s.Rehearse(fmt.Sprintf("200(in=%d, out=%d)", 100+n, 7+n))
			r := s.Belay([]string{"--telemetry"}, []string{"-p", "say plum-secret"})
			r.Exits(0)
			attempts += r.Result.Attempts
			tokens += int64(100 + n + 7 + n)
			continue
		}
		file := fmt.Sprintf("tried-%d", n)
		s.Run("belay", "run", "--telemetry", "--quiet", "--max-retries", "1", "--base-delay", "5ms", "--", "sh", "-c",
			fmt.Sprintf("test $(( %d %% 3 )) -ne 0 || test -e %s || { touch %s; echo plum-secret >&2; exit 1; }", n, file, file)).Exits(0)
		if attempts++; n%3 == 0 {
			attempts++
		}
	}
	s.Run("belay", "run", "--", "true").Exits(0) // without telemetry
	close(stop)
	killed := <-stopped
	for range 5 { // and so is who sends at last
		r := s.Start(s.Command("belay", "telemetry"), nil)
		time.Sleep(faulttest.N(random, 150*time.Millisecond))
		r.Cmd.Process.Kill()
		r.Quietly()
	}
	var state struct{ Waiting, Sent int64 }
	r := s.Run("belay", "telemetry", "--json")
	r.Exits(0)
	if err := json.Unmarshal([]byte(r.Stdout), &state); err != nil || state.Waiting != 0 || state.Sent != int64(runs) {
		t.Errorf("%v %s", err, r.Stdout)
	}
	if err := receiver.Trouble(); err != nil {
		t.Error(err)
	}
	byID, again := receiver.Distinct()
	roots, children, used := 0, 0, int64(0)
	for _, span := range byID {
		switch above, ok := byID[span.Parent()]; {
		case span.Parent() == "":
			roots++
			for _, name := range []string{"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} {
				n, _ := span.Get(name).(int64)
				used += n
			}
		case !ok:
			t.Errorf("%s has a parent that was not sent", span.Name)
		case strings.HasPrefix(span.Name, "attempt "):
			if children++; above.Parent() != "" || above.Trace() != span.Trace() {
				t.Errorf("%s is below %s", span.Name, above.Name)
			}
		}
	}
	if roots != runs || children != attempts || used != tokens {
		t.Errorf("%d runs of %d, %d attempts of %d, %d tokens of %d", roots, runs, children, attempts, used, tokens)
	}
	got := receiver.Metrics()
	for name, want := range map[string]float64{"belay.runs": float64(runs + 1), "belay.attempts": float64(attempts + 1), "gen_ai.client.token.usage": float64(tokens)} {
		if sum := otlptest.Sum(got[name]); sum != want {
			t.Errorf("%s is %v, want %v", name, sum, want)
		}
	}
	for _, body := range receiver.Bodies() {
		if strings.Contains(string(body), "plum-secret") {
			t.Error("a prompt or output was sent")
		}
	}
	t.Logf("%s: %d runs, %d attempts, %d spans in %d requests, %d sent again, %d kills", protocol, roots, children, len(byID), receiver.Requests(), again, killed)
}

// With --follow, runs are sent as they end, until it is stopped; a receiver that is away for a while gets them afterwards.
func TestTelemetry_Follow(t *testing.T) {
	t.Parallel()
	var away atomic.Bool
	var refused atomic.Int32
	receiver := &otlptest.Receiver{Refuse: func(*http.Request, int) *otlptest.Refusal {
		if away.Load() {
			refused.Add(1)
			return &otlptest.Refusal{Status: http.StatusServiceUnavailable}
		}
		return nil
	}}
	server := receiver.Start()
	defer server.Close()
	s := stage.Claude.New(t, "", "200")
	s.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "BELAY_FOLD=off"}
	follower := s.Start(s.Command("belay", "telemetry", "--follow"), nil)
	arrives := func(runs int) {
		t.Helper()
		roots := 0
		if !stage.Within(stage.Patience, func() bool {
			byID, _ := receiver.Distinct()
			roots = 0
			for _, span := range byID {
				if span.Parent() == "" {
					roots++
				}
			}
			return roots == runs
		}) {
			t.Fatalf("%d runs have arrived, want %d", roots, runs)
		}
	}
	s.Run("belay", "run", "--telemetry", "--", "true").Exits(0)
	arrives(1)
	away.Store(true)
	s.Run("belay", "run", "--telemetry", "--", "true").Exits(0)
	stage.Within(stage.Patience, func() bool { return refused.Load() > 0 })
	away.Store(false)
	arrives(2)
	follower.Cmd.Process.Signal(syscall.SIGTERM)
	follower.Quietly()
	if code := follower.Cmd.ProcessState.ExitCode(); code != 143 && code != 0 && code != -1 {
		t.Errorf("it ended with %d", code)
	}
	_, again := receiver.Distinct()
	if again != 0 {
		t.Errorf("%d spans came twice", again)
	}
}

// An attempt is told of its span, so that what the command sends is below it; without telemetry the caller's trace is left as it is.
func TestTelemetry_TraceContext(t *testing.T) {
	t.Parallel()
	const caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	receiver := &otlptest.Receiver{}
	server := receiver.Start()
	defer server.Close()
	s := stage.New(t, "200")
	s.Env = []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "TRACEPARENT=" + caller, "TRACESTATE=a=b", "BELAY_FOLD=off"}
	told := `printf "%s %s" "$TRACEPARENT" "$TRACESTATE"`
	s.Run("belay", "run", "--", "sh", "-c", told).Prints(caller + " a=b")
	r := s.Run("belay", "run", "--telemetry", "--", "sh", "-c", told)
	inner := s.Run("belay", "run", "--telemetry", "--", "sh", "-c", "belay run -- true")
	inner.Exits(0)
	s.Run("belay", "telemetry").Exits(0)
	byID, _ := receiver.Distinct()
	part := strings.Split(strings.Fields(r.Stdout + " ")[0], "-")
	if len(part) != 4 || part[1] != "0af7651916cd43dd8448eb211c80319c" || byID[part[2]].Span == nil || byID[part[2]].Name != "attempt 1" || !strings.HasSuffix(r.Stdout, " a=b") {
		t.Fatalf("%s, of %d spans", r.Stdout, len(byID))
	}
	below := 0
	for _, span := range byID {
		if span.Trace() != "0af7651916cd43dd8448eb211c80319c" {
			t.Errorf("%s is in trace %s", span.Name, span.Trace())
		}
		if above, ok := byID[span.Parent()]; ok && span.Name == "generic" && above.Name == "attempt 1" {
			below++
		}
	}
	if len(byID) != 6 || below != 1 {
		t.Errorf("%d spans, %d runs inside another", len(byID), below)
	}
}
