package message_test

import (
	"errors"

	"github.com/belay-run/belay/internal/message"
)

// telemetryMessages are those of metrics and telemetry.
func telemetryMessages(say func(name, text string)) {
	denied := errors.New("permission denied")
	say("MetricsNotWritten", message.MetricsNotWritten("/var/lib/node_exporter/belay.prom", denied))
}
