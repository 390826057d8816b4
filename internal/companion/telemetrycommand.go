//go:build !norecord

package companion

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/profile"
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

// telemetryCommand is belay telemetry.
func telemetryCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	settings, err := telemetry.FromEnviron(os.Getenv)
	if err != nil {
		return 0, &usageError{err: err}
	}
	own, _, err := config.Load(config.Given{}, generic.Name)
	if err != nil {
		return 0, err
	}
	q := newQuestion(from, args)
	if q.on("follow") && (q.on("discard") || q.json) {
		other := "--json"
		if q.on("discard") {
			other = "--discard"
		}
		return 0, &usageError{err: message.Error(message.NotTogether("--follow", other))}
	}
	err = q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	if q.on("discard") {
		return 0, q.discard(ctx)
	}
	s := &telemetry.Sender{DB: q.db, Settings: settings, Kinds: kinds()}
	defer s.Close()
	if q.on("follow") {
		return 0, q.keepSending(ctx, s)
	}
	before, err := q.db.Exporter(ctx)
	if err != nil {
		return 0, err
	}
	var sent telemetry.Sent
	var trouble error
	if on := own.Telemetry || endpointSet(); !settings.Disabled && (on || before.Waiting > 0) {
		sent, trouble = sendAlone(ctx, s, true, settings.Within(sendWithin))
	}
	after, err := q.db.Exporter(ctx)
	if err != nil {
		return 0, err
	}
	code := 0
	if trouble != nil {
		q.say(trouble.Error())
		code = codeFailed
	}
	if q.json {
		return code, term.JSON(q.out, telemetryJSON{Setting: own.Telemetry, Disabled: settings.Disabled, Traces: targetOf(settings.Traces), Metrics: targetOf(settings.Metrics),
			SentNow: sent.Runs, Spans: sent.Spans, Waiting: after.Waiting, Sent: after.Sent, Rejected: after.Rejected, LastSent: after.LastSent, Error: after.Trouble, ErrorAt: after.Troubled})
	}
	return code, q.telemetryText(own.Telemetry, &settings, after, sent)
}

// endpointSet says that the environment names a receiver.
func endpointSet() bool {
	return cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"), os.Getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT")) != ""
}

// kinds is what the registry knows of profiles.
func kinds() telemetry.Kinds {
	return telemetry.Kinds{
		Agent: func(name string) bool {
			d := profile.Find(name)
			return d != nil && d.IsAgent()
		},
		Provider: func(name string) string {
			p, err := profile.Bind(name, []string{name}, nil, "")
			if a, ok := p.(agent.Agent); ok && err == nil {
				return a.Info().Provider
			}
			return ""
		},
	}
}

// sendAlone brings the record up to date and sends, unless another process is doing so. It waits for that process and for the receiver for so long;
// the time that the record takes comes on top.
func sendAlone(ctx context.Context, s *telemetry.Sender, metrics bool, within time.Duration) (sent telemetry.Sent, err error) {
	until := time.Now().Add(within)
	turn, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	_, err = s.DB.ExportAlone(turn, func() error {
		began := time.Now()
		if _, err := s.DB.Fold(ctx); err != nil {
			return err
		}
		limited, cancel := context.WithDeadline(ctx, until.Add(time.Since(began)))
		defer cancel()
		sent, err = s.Send(limited, metrics)
		return err
	})
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = message.Error("another belayd is still sending; nothing was sent by this one", err)
	}
	return sent, err
}

// sendFolded is what belayd does in the background after a run with telemetry. Its messages go to the record, not to a terminal.
func sendFolded(ctx context.Context, d *record.DB) error {
	settings, err := telemetry.FromEnviron(os.Getenv)
	if err != nil {
		return errors.Join(d.BeginExport(ctx), d.NoteExport(ctx, err))
	}
	if _, err := config.ReadUser(); err != nil { // which declares profiles
		return err
	}
	s := &telemetry.Sender{DB: d, Settings: settings, Kinds: kinds()}
	defer s.Close()
	_, err = sendAlone(ctx, s, true, time.Minute)
	return err
}

// discard forgets what waits.
func (q *question) discard(ctx context.Context) error {
	n, err := q.db.ClearOutbox(ctx)
	if err != nil {
		return err
	}
	if q.json {
		return term.JSON(q.out, struct {
			Discarded int64 `json:"discarded"`
		}{n})
	}
	return term.Line(q.out, fmt.Sprintf("discarded %s that had not been sent", message.Count(int(n), "run")))
}

// keepSending sends runs as they end, and metrics again and again, until the context ends. A trouble is said once.
func (q *question) keepSending(ctx context.Context, s *telemetry.Sender) error {
	if s.Settings.Disabled {
		return term.Line(q.out, message.TelemetryDisabled())
	}
	said := ""
	var due time.Time
	for {
		metrics := !time.Now().Before(due)
		if metrics {
			due = time.Now().Add(s.Settings.Interval)
			q.state.ReportKilled() // what cannot be written now is found later
		}
		_, err := sendAlone(ctx, s, metrics, s.Settings.Within(followWithin))
		text := ""
		if err != nil && ctx.Err() == nil {
			text = err.Error()
		}
		if text != "" && text != said {
			q.say(text)
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

// telemetryJSON is how the sending stands, for programs. Fields are only ever added.
type telemetryJSON struct {
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

// telemetryText says how the sending stands.
func (q *question) telemetryText(on bool, s *telemetry.Settings, e record.Exporter, sent telemetry.Sent) error {
	if s.Disabled {
		return term.Line(q.out, message.TelemetryDisabled())
	}
	if !on {
		term.Line(q.out, "telemetry is off; turn it on with --telemetry, BELAY_TELEMETRY=true or telemetry = true in config.toml")
		if e.Waiting == 0 && e.Sent == 0 && !endpointSet() {
			return nil
		}
	}
	for _, t := range []*telemetry.Target{s.Traces, s.Metrics} {
		if t != nil {
			term.Line(q.out, fmt.Sprintf("%s go to %s (%s)", t.Signal, t.Address(), t.Protocol()))
		}
	}
	last := ""
	if e.LastSent != nil {
		last = q.clock(*e.LastSent)
	}
	err := term.Line(q.out, message.TelemetrySent(sent.Runs, e.Waiting, e.Sent, last))
	if e.Trouble != "" {
		err = term.Line(q.out, fmt.Sprintf("failed at %s: %s", q.clock(*e.Troubled), e.Trouble))
	}
	return err
}
