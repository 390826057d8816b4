package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/version"
)

// client sends requests to one target.
type client struct {
	target *Target
	http   *http.Client
}

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
	if t.GRPC {
		transport.Protocols = new(http.Protocols)
		transport.Protocols.SetHTTP2(!t.Insecure)
		transport.Protocols.SetUnencryptedHTTP2(t.Insecure)
	}
	return &client{target: t, http: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}, nil
}

func (c *client) close() { c.http.CloseIdleConnections() }

// config reads the files of the settings.
func (t TLS) config() (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t.CA != "" {
		data, err := safefile.ReadRegular(t.CA, maxFile)
		if err != nil {
			return nil, message.Error(message.TelemetryFile(t.CA, err), err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(data) {
			return nil, message.Error(message.TelemetryNoCertificate(t.CA))
		}
	}
	if t.Certificate == "" && t.Key == "" {
		return config, nil
	}
	certificate, err := safefile.ReadRegular(t.Certificate, maxFile)
	if err != nil {
		return nil, message.Error(message.TelemetryFile(t.Certificate, err), err)
	}
	key, err := safefile.ReadRegular(t.Key, maxFile)
	if err != nil {
		return nil, message.Error(message.TelemetryFile(t.Key, err), err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, message.Error(message.TelemetryNoCertificate(t.Certificate), err)
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
	text  string
	again bool          // it may take it later
	after time.Duration // when, if it says so
	bad   bool          // it will never take this request
	large bool          // it may take a part of it
}

func (e *refusal) Error() string { return e.text }

// The delays between repetitions of a request.
const (
	firstDelay = 500 * time.Millisecond
	maxDelay   = 10 * time.Second
)

// send sends a request, and repeats it for as long as the receiver asks for that and ctx allows.
func (c *client) send(ctx context.Context, body []byte) (answer, error) {
	for delay := firstDelay; ; delay = min(2*delay, maxDelay) {
		got, err := c.once(ctx, body)
		if err == nil {
			return got, nil
		}
		r, ok := errors.AsType[*refusal](err)
		if !ok || !r.again {
			return got, err
		}
		wait := delay/2 + rand.N(delay)
		if r.after > 0 {
			wait = r.after
		}
		if until, ok := ctx.Deadline(); ok && time.Until(until) < wait {
			return got, err
		}
		select {
		case <-ctx.Done():
			return got, err
		case <-time.After(wait):
		}
	}
}

// once sends a request once.
func (c *client) once(ctx context.Context, body []byte) (answer, error) {
	within := c.target.Timeout
	if until, ok := ctx.Deadline(); ok {
		within = min(within, time.Until(until).Round(100*time.Millisecond))
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	packed := body
	if c.target.Gzip {
		var err error
		if packed, err = compress(body); err != nil {
			return answer{}, err
		}
	}
	if c.target.GRPC {
		packed = frame(packed, c.target.Gzip)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.target.URL, bytes.NewReader(packed))
	if err != nil {
		return answer{}, message.Error(message.TelemetryFailed(c.target.Signal, c.target.Address(), message.TelemetryAddress()))
	}
	for _, h := range c.target.Headers {
		req.Header.Set(h.Name, h.Value)
	}
	req.Header.Set("User-Agent", "belayd/"+version.String())
	if c.target.GRPC {
		grpcHeaders(req.Header, c.target)
	} else {
		req.Header.Set("Content-Type", "application/x-protobuf")
		if c.target.Gzip {
			req.Header.Set("Content-Encoding", "gzip")
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, c.unreached(err, within)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return answer{}, c.unreached(err, within)
	}
	if c.target.GRPC {
		return c.grpcAnswer(res, data)
	}
	return c.httpAnswer(res, data)
}

// unreached is the error of a connection. Its text has no address but the one we show, and no header.
func (c *client) unreached(err error, within time.Duration) error {
	if wrong, ok := errors.AsType[*url.Error](err); ok {
		err = wrong.Err
	}
	text := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		text = "no answer within " + within.String()
	}
	return &refusal{text: message.TelemetryFailed(c.target.Signal, c.target.Address(), text), again: !mistrusts(err)}
}

// mistrusts reports whether one side does not accept the certificate of the other, which no repetition changes.
func mistrusts(err error) bool {
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return true
	}
	told, ok := errors.AsType[*net.OpError](err) // crypto/tls has no type for what the other side says
	return ok && told.Op == "remote error"
}

func (c *client) httpAnswer(res *http.Response, data []byte) (answer, error) {
	if res.StatusCode/100 == 2 {
		return c.partial(data), nil
	}
	r := &refusal{text: message.TelemetryFailed(c.target.Signal, c.target.Address(), "HTTP "+res.Status)}
	switch res.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		r.again, r.after = true, retryAfter(res.Header.Get("Retry-After"))
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		r.bad = true
	case http.StatusRequestEntityTooLarge:
		r.large = true
	}
	return answer{}, r
}

// retryAfter reads the header: seconds, or a date. Zero means that it does not say.
func retryAfter(value string) time.Duration {
	if n, err := strconv.Atoi(value); err == nil && n >= 0 && n < 1<<30 {
		return max(time.Duration(n)*time.Second, time.Millisecond)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(time.Until(at), time.Millisecond)
	}
	return 0
}

// partial reads the answer, in which a receiver may repeat what we have sent.
func (c *client) partial(data []byte) answer {
	a := partial(data)
	a.why = firstLine(c.target.withoutSecrets(a.why))
	return a
}

// withoutSecrets takes the values of our headers out of a text of the receiver.
func (t *Target) withoutSecrets(text string) string {
	for _, h := range t.Headers {
		if h.Value != "" {
			text = strings.ReplaceAll(text, h.Value, "…")
		}
	}
	return redact.Text(text)
}

// partial reads the answer to a request that was taken. The message for traces and that for metrics have the same form:
//
//	message ExportTraceServiceResponse { ExportTracePartialSuccess partial_success = 1; }
//	message ExportTracePartialSuccess { int64 rejected_spans = 1; string error_message = 2; }
//
// The generated code for them would bring all of gRPC along.
func partial(data []byte) (a answer) {
	eachField(data, func(number protowire.Number, value []byte, _ uint64) {
		if number == 1 {
			eachField(value, func(number protowire.Number, value []byte, n uint64) {
				switch {
				case number == 1 && value == nil && int64(n) > 0:
					a.rejected = int64(n)
				case number == 2 && value != nil:
					a.why = string(value)
				}
			})
		}
	})
	return a
}

// eachField shows the fields of a message; value is nil for numbers. It ends at the first that it cannot read.
func eachField(data []byte, show func(number protowire.Number, value []byte, n uint64)) {
	for len(data) > 0 {
		number, kind, size := protowire.ConsumeTag(data)
		if size < 0 {
			return
		}
		data = data[size:]
		switch kind {
		case protowire.BytesType:
			value, size := protowire.ConsumeBytes(data)
			if size < 0 {
				return
			}
			if value == nil {
				value = []byte{}
			}
			show(number, value, 0)
			data = data[size:]
		case protowire.VarintType:
			n, size := protowire.ConsumeVarint(data)
			if size < 0 {
				return
			}
			show(number, nil, n)
			data = data[size:]
		default:
			size := protowire.ConsumeFieldValue(number, kind, data)
			if size < 0 {
				return
			}
			data = data[size:]
		}
	}
}

func compress(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return b.Bytes(), err
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}
