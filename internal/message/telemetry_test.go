package message_test

import (
	"errors"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// telemetryMessages are those of metrics and telemetry.
func telemetryMessages(say func(name, text string)) {
	denied := errors.New("permission denied")
	say("MetricsNotWritten", message.MetricsNotWritten("/var/lib/node_exporter/belay.prom", denied))
	say("TelemetryOneOf", message.TelemetryVariable("OTEL_EXPORTER_OTLP_PROTOCOL", message.TelemetryOneOf("http/protobuf", "grpc")))
	say("TelemetryAddress", message.TelemetryVariable("OTEL_EXPORTER_OTLP_ENDPOINT", message.TelemetryAddress()))
	say("TelemetryMilliseconds", message.TelemetryVariable("OTEL_EXPORTER_OTLP_TIMEOUT", message.TelemetryMilliseconds()))
	say("TelemetryPairs", message.TelemetryVariable("OTEL_EXPORTER_OTLP_HEADERS", message.TelemetryPairs()))
	say("TelemetryVariable", message.TelemetryVariable("OTEL_TRACES_EXPORTER", message.TelemetryOneOf("otlp", "none")))
	say("TelemetryFile", message.TelemetryFile("/etc/ca.pem", denied))
	say("TelemetryNoCertificate", message.TelemetryNoCertificate("/etc/ca.pem"))
	say("TelemetryFailed", message.TelemetryFailed("traces", "http://localhost:4318/v1/traces", "HTTP 404 Not Found"))
	say("TelemetryBusy", message.TelemetryBusy())
	say("TelemetryNoAnswer", message.TelemetryFailed("metrics", "http://localhost:4318/v1/metrics", message.TelemetryNoAnswer(10*time.Second)))
	say("TelemetryStatus", message.TelemetryFailed("traces", "http://localhost:4317", message.TelemetryStatus("16", "")))
	say("TelemetryStatus/said", message.TelemetryFailed("traces", "http://localhost:4317", message.TelemetryStatus("8", "quota exceeded")))
	say("TelemetryNotGRPC", message.TelemetryFailed("traces", "http://localhost:4318", message.TelemetryNotGRPC()))
	say("TelemetryRejected", message.TelemetryRejected(2, "span too large"))
	say("TelemetryRejected/without a reason", message.TelemetryRejected(1, ""))
	say("TelemetryOff", message.TelemetryOff())
	say("TelemetryDisabled", message.TelemetryDisabled())
	say("TelemetryTo", message.TelemetryTo("traces", "http://localhost:4318/v1/traces", "http/protobuf"))
	say("TelemetrySent", message.TelemetrySent(3, 0, 12, "15:04:05"))
	say("TelemetrySent/waiting", message.TelemetrySent(0, 2, 0, ""))
	say("TelemetryTrouble", message.TelemetryTrouble("15:04:05", message.TelemetryFailed("traces", "http://localhost:4318/v1/traces", "connection refused")))
	say("TelemetryDiscarded", message.TelemetryDiscarded(2))
}
