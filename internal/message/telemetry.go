package message

import (
	"fmt"
	"time"
)

// MetricsNotWritten says that the file for a collector of metrics cannot be written.
func MetricsNotWritten(path string, err error) string {
	return fmt.Sprintf("cannot write metrics to %s: %v", path, err)
}

// TelemetryVariable says that an environment variable has a value that is not understood.
func TelemetryVariable(name, why string) string { return name + " " + why }

// TelemetryOneOf says what a variable can be, after its name.
func TelemetryOneOf(a, b string) string { return fmt.Sprintf("must be %s or %s", a, b) }

// TelemetryAddress says what an address must look like, after the name of its variable.
func TelemetryAddress() string { return "is not an address such as http://localhost:4318" }

// TelemetryMilliseconds says what a time must look like, after the name of its variable.
func TelemetryMilliseconds() string { return "is not a number of milliseconds, such as 10000" }

// TelemetryPairs says what a list of headers or attributes must look like, after the name of its variable.
func TelemetryPairs() string { return "is not a list such as key=value,key2=value2" }

// TelemetryFile says that a certificate or key cannot be read.
func TelemetryFile(path string, err error) string {
	return fmt.Sprintf("cannot read %s: %v", path, err)
}

// TelemetryNoCertificate says that a file has no certificate that can be used.
func TelemetryNoCertificate(path string) string { return "no usable certificate in " + path }

// TelemetryFailed says that a signal could not be sent.
func TelemetryFailed(signal, address, why string) string {
	return fmt.Sprintf("cannot send %s to %s: %s", signal, address, why)
}

// TelemetryBusy says that another process has not come to an end with sending.
func TelemetryBusy() string { return "another belayd is still sending; nothing was sent by this one" }

// TelemetryNoAnswer says that a receiver has not answered.
func TelemetryNoAnswer(after time.Duration) string { return "no answer within " + after.String() }

// TelemetryStatus is what a receiver has answered by gRPC.
func TelemetryStatus(code, said string) string {
	if said == "" {
		return "gRPC status " + code
	}
	return "gRPC status " + code + ": " + said
}

// TelemetryNotGRPC says that what has answered is no server of gRPC.
func TelemetryNotGRPC() string { return "the server does not speak gRPC" }

// TelemetryRejected says that a receiver has not taken a part of what was sent.
func TelemetryRejected(n int64, why string) string {
	text := fmt.Sprintf("the receiver rejected %s", count(int(n), "item"))
	if why != "" {
		text += ": " + why
	}
	return text
}

// TelemetryOff says that runs are not sent.
func TelemetryOff() string {
	return "telemetry is off; turn it on with --telemetry, BELAY_TELEMETRY=true or telemetry = true in config.toml"
}

// TelemetryDisabled says that a variable turns off all telemetry.
func TelemetryDisabled() string { return "OTEL_SDK_DISABLED turns telemetry off" }

// TelemetryTo says where a signal is sent.
func TelemetryTo(signal, address, protocol string) string {
	return fmt.Sprintf("%s go to %s (%s)", signal, address, protocol)
}

// TelemetrySent says how many runs were sent now and in all, when the last of them, and how many wait.
func TelemetrySent(now int, waiting, all int64, last string) string {
	text := fmt.Sprintf("sent %s now, %d in all", count(now, "run"), all)
	if last != "" {
		text += ", the last at " + last
	}
	if waiting > 0 {
		text += fmt.Sprintf("; %s waiting", count(int(waiting), "run"))
	}
	return text
}

// TelemetryTrouble says why the last try has failed.
func TelemetryTrouble(at, why string) string { return fmt.Sprintf("failed at %s: %s", at, why) }

// TelemetryDiscarded says how many runs are not sent any more.
func TelemetryDiscarded(n int64) string {
	return fmt.Sprintf("discarded %s that had not been sent", count(int(n), "run"))
}
