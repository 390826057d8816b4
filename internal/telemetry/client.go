package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	collector "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/protobuf/proto"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/version"
	"github.com/belay-run/belay/retry"
)

// client sends requests to one target.
type client struct {
	target *Target
	header http.Header
	http   *http.Client
	grpc   *connect.Client[[]byte, response] // nil for HTTP
}

// response is the answer to both signals: the one to metrics has the same fields under other names.
type response = collector.ExportTraceServiceResponse

// maxAnswer bounds what is read of an answer, and maxFile of a certificate.
const (
	maxAnswer = 1 << 20
	maxFile   = 1 << 20
)

func newClient(t *Target) (*client, error) {
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, TLSHandshakeTimeout: 10 * time.Second, IdleConnTimeout: 30 * time.Second,
		ResponseHeaderTimeout: t.Timeout, DisableCompression: true}
	var err error
	if transport.TLSClientConfig, err = t.TLS.config(); err != nil {
		return nil, err
	}
	c := &client{target: t, header: http.Header{}}
	for _, h := range t.Headers {
		c.header.Set(h.Name, h.Value)
	}
	c.header.Set("User-Agent", "belayd/"+version.String())
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if !t.GRPC {
		c.header.Set("Content-Type", "application/x-protobuf")
		if t.Gzip {
			c.header.Set("Content-Encoding", "gzip")
		}
		return c, nil
	}
	transport.Protocols = new(http.Protocols)
	transport.Protocols.SetHTTP2(!t.Insecure)
	transport.Protocols.SetUnencryptedHTTP2(t.Insecure)
	options := []connect.ClientOption{connect.WithGRPC(), connect.WithCodec(codec{}), connect.WithReadMaxBytes(maxAnswer)}
	if t.Gzip {
		options = append(options, connect.WithSendGzip())
	}
	c.grpc = connect.NewClient[[]byte, response](c.http, t.URL, options...)
	return c, nil
}

// codec sends what is encoded already.
type codec struct{}

func (codec) Name() string                        { return "proto" }
func (codec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (codec) Unmarshal(data []byte, message any) error {
	return proto.Unmarshal(data, message.(proto.Message))
}

func (c *client) close() { c.http.CloseIdleConnections() }

// config reads the files of the settings.
func (t TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	var failed error
	read := func(path string) []byte {
		data, err := safefile.ReadRegular(path, maxFile)
		if err != nil && failed == nil {
			failed = fmt.Errorf("cannot read %s: %w", path, err)
		}
		return data
	}
	unusable := func(path string) error { return cmp.Or(failed, errors.New("no usable certificate in "+path)) }
	if t.CA != "" {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(read(t.CA)) {
			return nil, unusable(t.CA)
		}
	}
	if t.Certificate == "" && t.Key == "" {
		return config, nil
	}
	pair, err := tls.X509KeyPair(read(t.Certificate), read(t.Key))
	if err != nil {
		return nil, unusable(t.Certificate)
	}
	config.Certificates = []tls.Certificate{pair}
	return config, nil
}

// answer is what a receiver says of a request that it has taken.
type answer struct {
	rejected int64  // items that it did not take
	why      string // and why, or a warning
}

// refusal is the error of a receiver that has not taken a request.
type refusal struct {
	text   string
	advice retry.Advice
	bad    bool // it will never take this request
	large  bool // it may take a part of it
}

func (e *refusal) Error() string { return e.text }

// send sends a request, and repeats it for as long as the receiver asks for that and ctx allows.
func (c *client) send(ctx context.Context, body []byte) (got answer, err error) {
	var last *refusal
	policy := retry.Policy{MaxRetries: 1000, MaxWait: retry.None, BaseDelay: 500 * time.Millisecond, MaxDelay: 10 * time.Second, Jitter: retry.Proportional(0.5),
		Classify: func(error) retry.Advice { return last.advice }}
	taken, err := retry.Do(ctx, policy, func(ctx context.Context) (*response, error) {
		within := c.target.Timeout
		if until, ok := ctx.Deadline(); ok {
			within = min(within, time.Until(until).Round(100*time.Millisecond))
		}
		ctx, cancel := context.WithTimeout(ctx, within)
		defer cancel()
		taken, err := c.once(ctx, body)
		if err == nil {
			return taken, nil
		}
		last = c.refused(err, within)
		return nil, last
	})
	switch {
	case err == nil:
		return answer{max(taken.GetPartialSuccess().GetRejectedSpans(), 0), c.shown(taken.GetPartialSuccess().GetErrorMessage())}, nil
	case last == nil: // there was no time left
		last = c.refused(err, 0)
	}
	return answer{}, last
}

// once sends a request once.
func (c *client) once(ctx context.Context, body []byte) (*response, error) {
	if c.grpc == nil {
		return c.post(ctx, body)
	}
	req := connect.NewRequest(&body)
	for name, values := range c.header {
		req.Header()[name] = values
	}
	res, err := c.grpc.CallUnary(ctx, req)
	if err != nil {
		return nil, err
	}
	return res.Msg, nil
}

// status is an answer of HTTP that is not a success.
type status struct{ *http.Response }

func (e status) Error() string { return "HTTP " + e.Status }

// post sends a request by HTTP.
func (c *client) post(ctx context.Context, body []byte) (*response, error) {
	if c.target.Gzip {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		if _, err := w.Write(body); err != nil {
			return nil, err
		}
		if err := w.Close(); err != nil {
			return nil, err
		}
		body = packed.Bytes()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = c.header.Clone()
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if res.StatusCode/100 != 2 {
		return nil, status{res}
	}
	taken := &response{}
	proto.Unmarshal(data, taken) // it has taken the request, whatever it says
	return taken, nil
}

// refused says what an error means. Its text has no address but the one we show, and no header.
func (c *client) refused(err error, within time.Duration) *refusal {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err
	}
	r, text := &refusal{}, err.Error()
	said, answered := errors.AsType[status](err)
	failed, spoken := errors.AsType[*connect.Error](err)
	switch {
	case answered:
		r.byHTTP(said)
	case connect.IsWireError(err):
		r.byGRPC(failed)
		text = strings.TrimSuffix(fmt.Sprintf("gRPC status %d: %s", failed.Code(), c.shown(failed.Message())), ": ")
	case errors.Is(err, context.DeadlineExceeded):
		r.advice.Retry, text = true, "no answer within "+within.String()
	case spoken: // a failure before there was an answer, or an answer that is not one of gRPC
		r.advice.Retry, text = failed.Code() == connect.CodeUnavailable && !mistrusts(err), c.shown(failed.Message())
	default:
		r.advice.Retry = !mistrusts(err)
	}
	r.text = fmt.Sprintf("cannot send %s to %s: %s", c.target.Signal, c.target.Address(), text)
	return r
}

// mistrusts reports whether one side does not accept the certificate of the other, which no repetition changes.
func mistrusts(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	told, ok := errors.AsType[*net.OpError](err) // crypto/tls has no type for what the other side says
	return ok && told.Op == "remote error"
}

func (r *refusal) byHTTP(res status) {
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		r.advice.Retry = true
		after := res.Header.Get("Retry-After")
		r.advice.NotBefore, _ = http.ParseTime(after)
		if n, err := strconv.Atoi(after); err == nil && n < 1<<30 {
			r.advice.After = time.Duration(n) * time.Second
		}
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		r.bad = true
	case http.StatusRequestEntityTooLarge:
		r.large = true
	}
}

func (r *refusal) byGRPC(failed *connect.Error) {
	hinted := false
	for _, detail := range failed.Details() {
		value, _ := detail.Value()
		if info, ok := value.(*errdetails.RetryInfo); ok {
			hinted, r.advice.After = true, info.GetRetryDelay().AsDuration()
		}
	}
	switch failed.Code() {
	case connect.CodeCanceled, connect.CodeDeadlineExceeded, connect.CodeAborted, connect.CodeOutOfRange, connect.CodeUnavailable, connect.CodeDataLoss:
		r.advice.Retry = true
	case connect.CodeResourceExhausted: // which is a limit that passes only if it says so
		r.advice.Retry, r.large = hinted, !hinted
	case connect.CodeInvalidArgument:
		r.bad = true
	}
}

// shown is the first line of a text of the receiver, which may repeat what we have sent, without the values of our headers.
func (c *client) shown(text string) string {
	for _, h := range c.target.Headers {
		if h.Value != "" {
			text = strings.ReplaceAll(text, h.Value, "…")
		}
	}
	text, _, _ = strings.Cut(redact.Text(text), "\n")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
