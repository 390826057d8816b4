// Package telemetry is belay telemetry: what waits is sent, and how that stands.
package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/telemetry"
	"github.com/belay-run/belay/internal/term"
)

const (
	// sendWithin is how long belay telemetry tries to send, and waits for another process that is sending: a user looks on. What is left is sent the
	// next time. followWithin is the same for --follow.
	sendWithin   = 9 * time.Second
	followWithin = 30 * time.Second
	// sendEvery is how often --follow looks for runs to send.
	sendEvery = 2 * time.Second
)

// Run is belay telemetry.
func Run(ctx context.Context, r *request.Request) (int, error) {
	settings, err := telemetry.FromEnviron(os.Getenv)
	if err != nil {
		return 0, &request.UsageError{Err: err}
	}
	own, _, err := config.Load(config.Given{}, generic.Name)
	if err != nil {
		return 0, err
	}
	q := question.New(r)
	if q.On("follow") && (q.On("discard") || q.JSON) {
		other := "--json"
		if q.On("discard") {
			other = "--discard"
		}
		return 0, &request.UsageError{Err: message.Error(message.NotTogether("--follow", other))}
	}
	err = q.Ask(ctx)
	defer q.Close()
	if err != nil {
		return 0, err
	}
	if q.On("discard") {
		return 0, discard(ctx, q)
	}
	s := &telemetry.Sender{DB: q.DB, Settings: settings, Kinds: telemetry.Registered()}
	defer s.Close()
	if q.On("follow") {
		return 0, keepSending(ctx, q, s)
	}
	before, err := q.DB.Outbox.Exporter(ctx)
	if err != nil {
		return 0, err
	}
	var sent telemetry.Sent
	var trouble error
	if on := own.Telemetry || endpointSet(); !settings.Disabled && (on || before.Waiting > 0) {
		sent, trouble = s.SendAlone(ctx, true, settings.Within(sendWithin))
	}
	after, err := q.DB.Outbox.Exporter(ctx)
	if err != nil {
		return 0, err
	}
	code := 0
	if trouble != nil {
		q.Say(trouble.Error())
		code = request.CodeFailed
	}
	if q.JSON {
		return code, term.JSON(q.Out, standing{Setting: own.Telemetry, Disabled: settings.Disabled, Traces: targetOf(settings.Traces), Metrics: targetOf(settings.Metrics),
			SentNow: sent.Runs, Spans: sent.Spans, Waiting: after.Waiting, Sent: after.Sent, Rejected: after.Rejected, LastSent: after.LastSent, Error: after.Trouble, ErrorAt: after.Troubled})
	}
	return code, writeText(q, own.Telemetry, &settings, after, sent)
}

// endpointSet says that the environment names a receiver.
func endpointSet() bool {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")) != ""
}

// discard forgets what waits.
func discard(ctx context.Context, q *question.Question) error {
	n, err := q.DB.Outbox.Clear(ctx)
	if err != nil {
		return err
	}
	if q.JSON {
		return term.JSON(q.Out, struct {
			Discarded int64 `json:"discarded"`
		}{n})
	}
	return term.Line(q.Out, fmt.Sprintf("discarded %s that had not been sent", message.Count(int(n), "run")))
}

// keepSending sends runs as they end, and metrics again and again, until the context ends. A trouble is said once.
func keepSending(ctx context.Context, q *question.Question, s *telemetry.Sender) error {
	if s.Settings.Disabled {
		return term.Line(q.Out, message.TelemetryDisabled())
	}
	said := ""
	var due time.Time
	for {
		metrics := !time.Now().Before(due)
		if metrics {
			due = time.Now().Add(s.Settings.Interval)
			q.State.ReportKilled() // what cannot be written now is found later
		}
		_, err := s.SendAlone(ctx, metrics, s.Settings.Within(followWithin))
		text := ""
		if err != nil && ctx.Err() == nil {
			text = err.Error()
		}
		if text != "" && text != said {
			q.Say(text)
		}
		said = text
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(sendEvery):
		}
	}
}

// targetJSON is a receiver for programs.
type targetJSON struct {
	Address  string `json:"address"`
	Protocol string `json:"protocol"`
}

// standing is how the sending stands, for programs. Fields are only ever added.
type standing struct {
	Setting  bool        `json:"setting"`  // runs are sent unless a flag says otherwise
	Disabled bool        `json:"disabled"` // by OTEL_SDK_DISABLED
	Traces   *targetJSON `json:"traces"`   // null if they are not sent
	Metrics  *targetJSON `json:"metrics"`
	SentNow  int         `json:"sent_now"` // runs
	Spans    int         `json:"spans_now"`
	Waiting  int64       `json:"waiting"` // runs
	Sent     int64       `json:"sent"`
	Rejected int64       `json:"rejected_spans"`
	LastSent *time.Time  `json:"last_sent"`
	Error    string      `json:"error,omitempty"` // of the last time
	ErrorAt  *time.Time  `json:"error_at,omitempty"`
}

func targetOf(t *telemetry.Target) *targetJSON {
	if t == nil {
		return nil
	}
	return &targetJSON{t.Address(), t.Protocol()}
}

// writeText says how the sending stands.
func writeText(q *question.Question, on bool, s *telemetry.Settings, e record.Exporter, sent telemetry.Sent) error {
	if s.Disabled {
		return term.Line(q.Out, message.TelemetryDisabled())
	}
	if !on {
		term.Line(q.Out, "telemetry is off; turn it on with --telemetry, BELAY_TELEMETRY=true or telemetry = true in config.toml")
		if e.Waiting == 0 && e.Sent == 0 && !endpointSet() {
			return nil
		}
	}
	for _, t := range []*telemetry.Target{s.Traces, s.Metrics} {
		if t != nil {
			term.Line(q.Out, fmt.Sprintf("%s go to %s (%s)", t.Signal, t.Address(), t.Protocol()))
		}
	}
	last := ""
	if e.LastSent != nil {
		last = q.Clock(*e.LastSent)
	}
	err := term.Line(q.Out, message.TelemetrySent(sent.Runs, e.Waiting, e.Sent, last))
	if e.Trouble != "" {
		err = term.Line(q.Out, fmt.Sprintf("failed at %s: %s", q.Clock(*e.Troubled), e.Trouble))
	}
	return err
}
