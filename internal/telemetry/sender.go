package telemetry

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/overview"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
)

// Sender sends what is in the outbox of a record, and its meters.
type Sender struct {
	DB       *record.DB
	Settings Settings
	Kinds    Kinds

	traces, metrics *client
}

// Sent is what has been sent.
type Sent struct {
	Runs     int
	Spans    int
	Rejected int64  // spans and points that the receiver did not take
	Why      string // it did not take them
}

const (
	// runsAtOnce is how many runs are taken out of the outbox at a time, spansAtOnce how many spans go into a request at most, unless one
	// run has more.
	runsAtOnce  = 128
	spansAtOnce = 1024
)

// Send sends all that waits, and then metrics if asked to. Only one process may do so at a time, see [db.DB.ExportAlone]. What a receiver has not taken
// stays in the outbox, unless it says that it never will.
func (s *Sender) Send(ctx context.Context, metrics bool) (sent Sent, err error) {
	if s.Settings.Disabled {
		return sent, nil
	}
	if err := s.DB.Outbox.Begin(ctx); err != nil {
		return sent, err
	}
	state, err := s.DB.Outbox.Exporter(ctx)
	if err != nil {
		return sent, err
	}
	err = s.sendTraces(ctx, state.Instance, &sent)
	if metrics && ctx.Err() == nil {
		err = both(err, s.sendMetrics(ctx, state.Instance, &sent))
	}
	note := err
	if note == nil && sent.Rejected > 0 {
		note = message.Error(message.TelemetryRejected(sent.Rejected, sent.Why))
	}
	return sent, errors.Join(err, s.DB.Outbox.Note(context.WithoutCancel(ctx), note))
}

// both are two errors, in one line; nil if there are none.
func both(a, b error) error {
	if a == nil || b == nil {
		return errors.Join(a, b)
	}
	return message.Error(a.Error()+"; "+b.Error(), a, b)
}

// Close closes connections.
func (s *Sender) Close() {
	for _, c := range []*client{s.traces, s.metrics} {
		if c != nil {
			c.close()
		}
	}
}

// sendTraces sends runs until the outbox is empty.
func (s *Sender) sendTraces(ctx context.Context, instance string, sent *Sent) error {
	if s.Settings.Traces == nil { // none are wanted
		_, err := s.DB.Outbox.Clear(ctx)
		return err
	}
	if s.traces == nil {
		var err error
		if s.traces, err = newClient(s.Settings.Traces); err != nil {
			return err
		}
	}
	for {
		runs, err := s.DB.Outbox.Unsent(ctx, runsAtOnce)
		if err != nil || len(runs) == 0 {
			return err
		}
		if err := s.sendRuns(ctx, instance, runs, sent); err != nil {
			return err
		}
	}
}

// sendRuns sends runs, as many at a time as fit into a request, and takes out of the outbox what has been taken.
func (s *Sender) sendRuns(ctx context.Context, instance string, runs []record.Unsent, sent *Sent) error {
	limit := spansAtOnce
	for len(runs) > 0 {
		var spans []*tracepb.Span
		n := 0
		for n < len(runs) {
			more := s.Kinds.spans(&runs[n])
			if n > 0 && len(spans)+len(more) > limit {
				break
			}
			spans = append(spans, more...)
			n++
		}
		var got answer
		if len(spans) > 0 {
			body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{Resource: resourceOf(&s.Settings, instance),
				ScopeSpans: []*tracepb.ScopeSpans{{Scope: scope(), Spans: spans}}}}})
			if err != nil {
				return err
			}
			got, err = s.traces.send(ctx, body)
			refused, ok := errors.AsType[*refusal](err)
			switch {
			case err == nil:
			case ok && (refused.large || refused.bad) && n > 1: // one of them may be why
				limit = max(len(spans)/2, 1)
				continue
			case ok && (refused.large || refused.bad):
				got = answer{rejected: int64(len(spans)), why: refused.text}
			default:
				return err
			}
			sent.Spans += len(spans)
		}
		if err := s.DB.Outbox.Sent(context.WithoutCancel(ctx), runs[:n], got.rejected); err != nil {
			return err
		}
		sent.add(got)
		sent.Runs += n
		runs = runs[n:]
	}
	return nil
}

func (s *Sent) add(a answer) {
	if s.Rejected += a.rejected; a.rejected > 0 {
		s.Why = a.why
	}
}

// sendMetrics sends all meters, and how limits stand.
func (s *Sender) sendMetrics(ctx context.Context, instance string, sent *Sent) error {
	if s.Settings.Metrics == nil {
		return nil
	}
	meters, since, err := s.DB.Stats.Meters(ctx)
	if err != nil || len(meters) == 0 {
		return err
	}
	if s.metrics == nil {
		if s.metrics, err = newClient(s.Settings.Metrics); err != nil {
			return err
		}
	}
	_, limits, _ := overview.Gates(&state.State{Dir: filepath.Dir(s.DB.LogPath())}) // without them, the sums are still sent
	body, err := proto.Marshal(&metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{Resource: resourceOf(&s.Settings, instance),
		ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: scope(), Metrics: s.Kinds.metrics(meters, limits, since, time.Now())}}}}})
	if err != nil {
		return err
	}
	got, err := s.metrics.send(ctx, body)
	if err != nil {
		return err
	}
	sent.add(got)
	return nil
}
