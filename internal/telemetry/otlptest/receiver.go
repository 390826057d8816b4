// Package otlptest is a receiver of OpenTelemetry for tests: it takes traces and metrics by OTLP over HTTP and gRPC, reads them by the
// official packages, and can be told to refuse.
package otlptest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// Receiver keeps what it is sent.
type Receiver struct {
	// Refuse, if not nil, is asked before a request is read; nil means that it is taken. Set it before the first request.
	Refuse func(r *http.Request, n int) *Refusal
	// Reject is how many items of each request it says that it has not taken.
	Reject int64

	mu       sync.Mutex
	requests int
	spans    []*tracepb.Span
	metrics  []*metricspb.Metric // of the last request
	resource *resource.Resource
	headers  []http.Header
	bodies   [][]byte
	trouble  []error
}

// Refusal is an answer that does not take a request.
type Refusal struct {
	Status int         // of HTTP; with gRPC the status is 200, and this is the code of gRPC
	Header http.Header // or trailers
	After  bool        // the request is taken, and refused afterwards
	Hang   bool        // there is no answer
}

// Start serves the receiver on loopback, by HTTP/1 and HTTP/2 without TLS.
func (r *Receiver) Start() *httptest.Server {
	s := httptest.NewUnstartedServer(r)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	return s
}

// ServeHTTP implements [http.Handler].
func (r *Receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	rpc := req.Header.Get("Content-Type") == "application/grpc"
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // who sends it was killed; it comes again
	}
	r.mu.Lock()
	r.requests++
	n := r.requests
	r.headers = append(r.headers, req.Header.Clone())
	r.mu.Unlock()
	var refusal *Refusal
	if r.Refuse != nil {
		refusal = r.Refuse(req, n)
	}
	if refusal != nil && refusal.Hang {
		<-req.Context().Done()
		return
	}
	if err == nil && (refusal == nil || refusal.After) {
		err = r.take(req, body, rpc)
	}
	if err != nil {
		r.mu.Lock()
		r.trouble = append(r.trouble, err)
		r.mu.Unlock()
	}
	answer(w, rpc, refusal, r.Reject)
}

// answer writes what the receiver says.
func answer(w http.ResponseWriter, rpc bool, refusal *Refusal, reject int64) {
	var message []byte
	if reject > 0 {
		var partial []byte
		partial = protowire.AppendVarint(protowire.AppendTag(partial, 1, protowire.VarintType), uint64(reject))
		partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too many")
		message = protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
	}
	if !rpc {
		w.Header().Set("Content-Type", "application/x-protobuf")
		if refusal != nil {
			for name, values := range refusal.Header {
				w.Header()[name] = values
			}
			w.WriteHeader(refusal.Status)
			return
		}
		w.Write(message)
		return
	}
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status, Grpc-Message, Grpc-Status-Details-Bin")
	if refusal == nil {
		head := make([]byte, 5)
		binary.BigEndian.PutUint32(head[1:], uint32(len(message)))
		w.Write(append(head, message...))
		w.Header().Set("Grpc-Status", "0")
		return
	}
	w.WriteHeader(http.StatusOK)
	w.Header().Set("Grpc-Status", strconv.Itoa(refusal.Status))
	for name, values := range refusal.Header {
		w.Header()[name] = values
	}
}

// take reads a request and keeps what is in it.
func (r *Receiver) take(req *http.Request, body []byte, rpc bool) (err error) {
	packed := req.Header.Get("Content-Encoding") == "gzip"
	if rpc {
		if len(body) < 5 || int(binary.BigEndian.Uint32(body[1:])) != len(body)-5 || req.ProtoMajor != 2 || req.Header.Get("TE") != "trailers" {
			return errors.New("not a call of gRPC")
		}
		if packed = body[0] == 1; packed && req.Header.Get("Grpc-Encoding") != "gzip" {
			return errors.New("compressed, and the headers do not say so")
		}
		body = body[5:]
	}
	if packed {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return err
		}
		if body, err = io.ReadAll(z); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.bodies = append(r.bodies, body)
	switch path := req.URL.Path; {
	case strings.HasSuffix(path, "/v1/traces"), path == "/opentelemetry.proto.collector.trace.v1.TraceService/Export":
		var data tracepb.TracesData
		if err := proto.Unmarshal(body, &data); err != nil {
			return err
		}
		for _, rs := range data.ResourceSpans {
			r.resource = rs.Resource
			for _, ss := range rs.ScopeSpans {
				r.spans = append(r.spans, ss.Spans...)
			}
		}
	case strings.HasSuffix(path, "/v1/metrics"), path == "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export":
		var data metricspb.MetricsData
		if err := proto.Unmarshal(body, &data); err != nil {
			return err
		}
		r.metrics = nil
		for _, rm := range data.ResourceMetrics {
			for _, sm := range rm.ScopeMetrics {
				r.metrics = append(r.metrics, sm.Metrics...)
			}
		}
	default:
		return &url.Error{Op: req.Method, URL: path, Err: errors.New("nothing is there")}
	}
	return nil
}

// Spans are all that were received, in their order, those that came twice included.
func (r *Receiver) Spans() []Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]Span, len(r.spans))
	for i, s := range r.spans {
		list[i] = Span{s}
	}
	return list
}

// Distinct are the spans by their ids, and how many came more than once.
func (r *Receiver) Distinct() (byID map[string]Span, again int) {
	byID = map[string]Span{}
	for _, s := range r.Spans() {
		if _, ok := byID[s.ID()]; ok {
			again++
		}
		byID[s.ID()] = s
	}
	return byID, again
}

// Metrics are the metrics of the last request.
func (r *Receiver) Metrics() map[string]*metricspb.Metric {
	r.mu.Lock()
	defer r.mu.Unlock()
	byName := map[string]*metricspb.Metric{}
	for _, m := range r.metrics {
		byName[m.Name] = m
	}
	return byName
}

// Resource are the attributes of the last sender.
func (r *Receiver) Resource() map[string]any {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Attributes(r.resource.GetAttributes())
}

// Requests is how many there were.
func (r *Receiver) Requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests
}

// Headers are the headers of all requests.
func (r *Receiver) Headers() []http.Header {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.headers
}

// Bodies are the messages of all requests that were taken.
func (r *Receiver) Bodies() [][]byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bodies
}

// Trouble is what was not as it must be.
func (r *Receiver) Trouble() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.trouble...)
}

// Span is one of a trace.
type Span struct{ *tracepb.Span }

// ID is its own id, Parent that of the one above, Trace that of all; hexadecimal.
func (s Span) ID() string     { return hex.EncodeToString(s.SpanId) }
func (s Span) Parent() string { return hex.EncodeToString(s.ParentSpanId) }
func (s Span) Trace() string  { return hex.EncodeToString(s.TraceId) }

// Get is an attribute; nil if there is none of that name.
func (s Span) Get(name string) any { return Attributes(s.Attributes)[name] }

// Attributes are attributes by their names.
func Attributes(list []*common.KeyValue) map[string]any {
	m := map[string]any{}
	for _, kv := range list {
		switch v := kv.Value.GetValue().(type) {
		case *common.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *common.AnyValue_IntValue:
			m[kv.Key] = v.IntValue
		case *common.AnyValue_DoubleValue:
			m[kv.Key] = v.DoubleValue
		case *common.AnyValue_BoolValue:
			m[kv.Key] = v.BoolValue
		}
	}
	return m
}

// Sum is the sum of all points of a counter, or of all values of a histogram.
func Sum(m *metricspb.Metric) (sum float64) {
	for _, p := range m.GetSum().GetDataPoints() {
		sum += p.GetAsDouble()
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		sum += p.GetSum()
	}
	return sum
}

// RetryInfo is the trailer of gRPC that says when to come back, in milliseconds.
func RetryInfo(ms uint64) string {
	duration := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), ms/1000)
	duration = protowire.AppendVarint(protowire.AppendTag(duration, 2, protowire.VarintType), ms%1000*1e6)
	info := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), duration)
	detail := protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "type.googleapis.com/google.rpc.RetryInfo")
	detail = protowire.AppendBytes(protowire.AppendTag(detail, 2, protowire.BytesType), info)
	status := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 14)
	status = protowire.AppendBytes(protowire.AppendTag(status, 3, protowire.BytesType), detail)
	return base64.RawStdEncoding.EncodeToString(status)
}
