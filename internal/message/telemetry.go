package message

import (
	"fmt"
)

// TelemetryOneOf says what a variable can be, after its name.
func TelemetryOneOf(a, b string) string { return fmt.Sprintf("must be %s or %s", a, b) }

// TelemetryRejected says that a receiver has not taken a part of what was sent.
func TelemetryRejected(n int64, why string) string {
	text := fmt.Sprintf("the receiver rejected %s", Count(int(n), "item"))
	if why != "" {
		text += ": " + why
	}
	return text
}

// TelemetryDisabled says that a variable turns off all telemetry.
func TelemetryDisabled() string { return "OTEL_SDK_DISABLED turns telemetry off" }

// TelemetrySent says how many runs were sent now and in all, when the last of them, and how many wait.
func TelemetrySent(now int, waiting, all int64, last string) string {
	text := fmt.Sprintf("sent %s now, %d in all", Count(now, "run"), all)
	if last != "" {
		text += ", the last at " + last
	}
	if waiting > 0 {
		text += fmt.Sprintf("; %s waiting", Count(int(waiting), "run"))
	}
	return text
}
