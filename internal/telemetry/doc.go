// Package telemetry sends what is on record to a receiver of OpenTelemetry: a trace for each run, and metrics of all of them.
//
// It does so after the fact, from the record: a run is in the outbox of package record from the moment its last line is folded until a receiver
// has taken it. A [Sender] that is killed in between sends it again, with the same ids. Where to send is said by OpenTelemetry's standard
// environment variables, see [FromEnviron]. Nothing is sent of prompts, arguments, output and error messages.
//
// alone.go brings the record up to date and lets one process at a time send. sender.go takes runs from the outbox; spans.go makes a trace of each, measures.go metrics of all
// (attributes.go names what both say), and client.go sends them. Package metrics says the same sums in the text format of Prometheus.
package telemetry
