package telemetry_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/telemetry"
	"github.com/belay-run/belay/internal/test/must"
)

// A sender waits for another one, and for a receiver, only as long as it is told. With a belayd in the background whose receiver was dead, belay telemetry took 58 s.
func TestSendAlone_Within(t *testing.T) {
	dir := t.TempDir()
	log := journal.Log{Path: filepath.Join(dir, "log.jsonl")}
	must.OK(t, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: "run-1", Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Success}))
	open := func() *record.DB {
		d, err := record.Open(dir)
		must.OK(t, err)
		t.Cleanup(func() { d.Close() })
		return d
	}
	settings, err := telemetry.FromEnviron(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1"}[name] // where nothing listens
	})
	must.OK(t, err)
	s := &telemetry.Sender{DB: open(), Settings: settings, Kinds: telemetry.Registered()}
	defer s.Close()
	_, err = open().Outbox.Alone(t.Context(), func() error {
		if _, err := s.SendAlone(t.Context(), true, time.Millisecond); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "another belayd is still sending") {
			t.Errorf("while another sends: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := s.SendAlone(t.Context(), true, 2*time.Second); err == nil || !strings.Contains(err.Error(), "cannot send metrics to http://127.0.0.1:1/v1/metrics") {
		t.Errorf("with a dead receiver: %v", err)
	}
}
