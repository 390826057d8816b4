package telemetry

import (
	"encoding/base64"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
)

// Settings say where telemetry is sent, and as whose.
type Settings struct {
	Disabled bool // by OTEL_SDK_DISABLED
	// Traces and Metrics are the receivers; nil if that signal is not sent.
	Traces, Metrics *Target
	// Resource are attributes of all that is sent, beside those that Belay knows.
	Resource []Attribute
	// Interval is how often metrics are sent by a process that keeps sending.
	Interval time.Duration
}

// Within is how long to try to send: as long as is usual, or as a user allows a receiver to take who allows it more than the default.
func (s *Settings) Within(usual time.Duration) time.Duration {
	for _, t := range []*Target{s.Traces, s.Metrics} {
		if t != nil && t.Timeout > defaultTimeout {
			usual = max(usual, t.Timeout)
		}
	}
	return usual
}

// Attribute is a name with a text.
type Attribute struct{ Name, Value string }

// Target is where one signal is sent.
type Target struct {
	Signal   string // traces or metrics
	URL      string // with the path, for HTTP
	GRPC     bool
	Headers  []Attribute // may hold secrets
	Gzip     bool
	Timeout  time.Duration
	TLS      TLS
	Insecure bool // without TLS
}

// TLS are the files for an encrypted connection; empty means those of the system, and no certificate of our own.
type TLS struct{ CA, Certificate, Key string }

// Address is where it is sent, without what may be secret.
func (t *Target) Address() string {
	u, err := url.Parse(t.URL)
	if err != nil {
		return ""
	}
	if t.GRPC { // the path is that of the method
		u.Path = ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// Protocol is the name of the protocol.
func (t *Target) Protocol() string {
	if t.GRPC {
		return grpcProtocol
	}
	return httpProtocol
}

const (
	httpProtocol = "http/protobuf"
	grpcProtocol = "grpc"

	defaultTimeout  = 10 * time.Second
	defaultInterval = time.Minute
)

// grpcPaths are the methods that take the signals.
var grpcPaths = map[string]string{
	"traces":  "/opentelemetry.proto.collector.trace.v1.TraceService/Export",
	"metrics": "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export",
}

// FromEnviron reads the standard variables. A value that is not understood is an error, which names the variable and never its value.
func FromEnviron(getenv func(string) string) (s Settings, err error) {
	r := reader{getenv: getenv}
	s.Disabled = strings.EqualFold(r.text("OTEL_SDK_DISABLED"), "true")
	s.Resource = r.resource()
	s.Interval = r.duration(r.text("OTEL_METRIC_EXPORT_INTERVAL"), "OTEL_METRIC_EXPORT_INTERVAL", defaultInterval)
	if s.Disabled {
		return s, nil
	}
	s.Traces, s.Metrics = r.target("traces"), r.target("metrics")
	return s, r.err
}

// reader reads variables and keeps the first error.
type reader struct {
	getenv func(string) string
	err    error
}

func (r *reader) text(name string) string { return strings.TrimSpace(r.getenv(name)) }

func (r *reader) wrong(name, why string) {
	if r.err == nil {
		r.err = message.Error(name + " " + why)
	}
}

// of is a variable of a signal, or of all signals, and the name of it that was set.
func (r *reader) of(signal, name string) (value, from string) {
	from = "OTEL_EXPORTER_OTLP_" + strings.ToUpper(signal) + "_" + name
	if value = r.text(from); value == "" {
		from = "OTEL_EXPORTER_OTLP_" + name
		value = r.text(from)
	}
	return value, from
}

// oneOf is a value that is one of two, or empty.
func (r *reader) oneOf(value, name, one, other string) string {
	if value != "" && value != one && value != other {
		r.wrong(name, message.TelemetryOneOf(one, other))
	}
	return value
}

// target is the target of a signal; nil if it is not sent.
func (r *reader) target(signal string) *Target {
	exporter := "OTEL_" + strings.ToUpper(signal) + "_EXPORTER"
	if r.oneOf(r.text(exporter), exporter, "otlp", "none") == "none" {
		return nil
	}
	protocol, name := r.of(signal, "PROTOCOL") // http/json is another one
	t := &Target{Signal: signal, GRPC: r.oneOf(protocol, name, httpProtocol, grpcProtocol) == grpcProtocol}
	r.endpoint(t)
	compression, name := r.of(signal, "COMPRESSION")
	t.Gzip = r.oneOf(compression, name, "gzip", "none") == "gzip"
	headers, name := r.of(signal, "HEADERS")
	t.Headers = append(t.Headers, r.pairs(headers, name)...)
	timeout, name := r.of(signal, "TIMEOUT")
	t.Timeout = r.duration(timeout, name, defaultTimeout)
	t.TLS.CA, _ = r.of(signal, "CERTIFICATE")
	t.TLS.Certificate, _ = r.of(signal, "CLIENT_CERTIFICATE")
	t.TLS.Key, _ = r.of(signal, "CLIENT_KEY")
	return t
}

// endpoint sets the address. That of a signal is taken as it is; to that of all signals, HTTP adds the signal's path.
func (r *reader) endpoint(t *Target) {
	value, name := r.of(t.Signal, "ENDPOINT")
	own := strings.Contains(name, strings.ToUpper(t.Signal)+"_ENDPOINT")
	if value == "" {
		value = "http://localhost:4318"
		if t.GRPC {
			value = "http://localhost:4317"
		}
	}
	if t.GRPC && !strings.Contains(value, "://") { // host:port is an address of gRPC too
		scheme := "https://"
		if insecure, _ := r.of(t.Signal, "INSECURE"); strings.EqualFold(insecure, "true") {
			scheme = "http://"
		}
		value = scheme + value
	}
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || !isPort(u.Port()) || u.RawQuery != "" && t.GRPC {
		r.wrong(name, "is not an address such as http://localhost:4318")
		return
	}
	switch {
	case t.GRPC:
		if u.Port() == "" {
			u.Host = net.JoinHostPort(u.Hostname(), "4317")
		}
		u.Path, u.RawPath = grpcPaths[t.Signal], ""
	case !own:
		u.Path, u.RawPath = strings.TrimSuffix(u.Path, "/")+"/v1/"+t.Signal, ""
	case u.Path == "":
		u.Path = "/"
	}
	if u.User != nil { // as other clients do: a header
		password, _ := u.User.Password()
		basic := "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
		t.Headers = append(t.Headers, Attribute{"Authorization", basic})
		u.User = nil
	}
	t.URL, t.Insecure = u.String(), u.Scheme == "http"
}

// isPort reports whether a port can be connected to; none means that of the scheme.
func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return text == "" || err == nil && n > 0
}

func (r *reader) duration(text, name string, usual time.Duration) time.Duration {
	if text == "" {
		return usual
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 || n > int64(24*time.Hour/time.Millisecond) {
		r.wrong(name, "is not a number of milliseconds, such as 10000")
		return usual
	}
	return time.Duration(n) * time.Millisecond
}

// pairs reads key=value,key2=value2, in which values are percent-encoded.
func (r *reader) pairs(text, name string) (list []Attribute) {
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		key, value, ok := strings.Cut(part, "=")
		key = strings.TrimSpace(key)
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if !ok || key == "" || err != nil || strings.ContainsAny(key+value, "\r\n\x00") {
			r.wrong(name, "is not a list such as key=value,key2=value2")
			return nil
		}
		list = append(list, Attribute{key, value})
	}
	return list
}

// resource are the attributes that the user gives, the name of the service first.
func (r *reader) resource() (list []Attribute) {
	given := r.pairs(r.text("OTEL_RESOURCE_ATTRIBUTES"), "OTEL_RESOURCE_ATTRIBUTES")
	if name := r.text("OTEL_SERVICE_NAME"); name != "" {
		list = append(list, Attribute{serviceName, name})
	}
	for _, a := range given {
		if a.Name != serviceName || len(list) == 0 || list[0].Name != serviceName {
			list = append(list, a)
		}
	}
	return list
}
