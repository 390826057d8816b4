package telemetry

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/belay-run/belay/internal/message"
)

// A unary call of gRPC is a request of HTTP/2: five bytes before the message, and the status in the trailers. That is all of it that is
// needed here.

// grpcPath is the method that takes a signal.
func grpcPath(signal string) string {
	if signal == "metrics" {
		return "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export"
	}
	return "/opentelemetry.proto.collector.trace.v1.TraceService/Export"
}

func grpcHeaders(h http.Header, t *Target) {
	h.Set("Content-Type", "application/grpc")
	h.Set("TE", "trailers")
	h.Set("Grpc-Timeout", strconv.FormatInt(t.Timeout.Milliseconds(), 10)+"m")
	if t.Gzip {
		h.Set("Grpc-Encoding", "gzip")
	}
	h.Set("Grpc-Accept-Encoding", "gzip")
}

// frame puts the five bytes before a message.
func frame(data []byte, compressed bool) []byte {
	head := make([]byte, 5, 5+len(data))
	if compressed {
		head[0] = 1
	}
	binary.BigEndian.PutUint32(head[1:], uint32(len(data)))
	return append(head, data...)
}

// unframe is the message of an answer; nil if there is none.
func unframe(data []byte) []byte {
	if len(data) < 5 || uint64(binary.BigEndian.Uint32(data[1:])) > uint64(len(data)-5) {
		return nil
	}
	body := data[5 : 5+binary.BigEndian.Uint32(data[1:])]
	if data[0] == 0 {
		return body
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil
	}
	plain, err := io.ReadAll(io.LimitReader(r, maxAnswer))
	if err != nil {
		return nil
	}
	return plain
}

// Codes of gRPC.
const (
	grpcCancelled         = 1
	grpcInvalidArgument   = 3
	grpcDeadlineExceeded  = 4
	grpcResourceExhausted = 8
	grpcAborted           = 10
	grpcOutOfRange        = 11
	grpcUnavailable       = 14
	grpcDataLoss          = 15
)

// grpcAnswer reads the status. It is in the trailers, or in the headers of an answer that has nothing else.
func (c *client) grpcAnswer(res *http.Response, data []byte) (answer, error) {
	status := res.Trailer.Get("Grpc-Status")
	head := res.Trailer
	if status == "" {
		head = res.Header
		status = head.Get("Grpc-Status")
	}
	if status == "" { // it is no server of gRPC, or a proxy before one
		return c.httpAnswerOf(res)
	}
	code, err := strconv.Atoi(status)
	if err == nil && code == 0 {
		return c.partial(unframe(data)), nil
	}
	said, _ := url.PathUnescape(head.Get("Grpc-Message"))
	r := &refusal{text: message.TelemetryFailed(c.target.Signal, c.target.Address(), message.TelemetryStatus(status, firstLine(c.target.withoutSecrets(said))))}
	pause, hinted := retryInfo(head.Get("Grpc-Status-Details-Bin"))
	switch code {
	case grpcCancelled, grpcDeadlineExceeded, grpcAborted, grpcOutOfRange, grpcUnavailable, grpcDataLoss:
		r.again, r.after = true, pause
	case grpcResourceExhausted: // which is a limit that passes only if it says so
		r.again, r.after, r.large = hinted, pause, !hinted
	case grpcInvalidArgument:
		r.bad = true
	}
	return answer{}, r
}

// httpAnswerOf is the error for an answer without a status of gRPC.
func (c *client) httpAnswerOf(res *http.Response) (answer, error) {
	if res.StatusCode/100 == 2 {
		return answer{}, &refusal{text: message.TelemetryFailed(c.target.Signal, c.target.Address(), "the server does not speak gRPC")}
	}
	return c.httpAnswer(res, nil)
}

// retryInfo finds google.rpc.RetryInfo in the details of a status, and how long it says to wait.
//
//	message Status { int32 code = 1; string message = 2; repeated google.protobuf.Any details = 3; }
//	message Any { string type_url = 1; bytes value = 2; }
//	message RetryInfo { google.protobuf.Duration retry_delay = 1; }
//	message Duration { int64 seconds = 1; int32 nanos = 2; }
func retryInfo(header string) (pause time.Duration, ok bool) {
	data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(header, "="))
	if header == "" || err != nil {
		return 0, false
	}
	eachField(data, func(number protowire.Number, detail []byte, _ uint64) {
		if number != 3 || detail == nil {
			return
		}
		var kind string
		var value []byte
		eachField(detail, func(number protowire.Number, field []byte, _ uint64) {
			switch number {
			case 1:
				kind = string(field)
			case 2:
				value = field
			}
		})
		if !strings.HasSuffix(kind, "/google.rpc.RetryInfo") {
			return
		}
		ok = true
		eachField(value, func(number protowire.Number, field []byte, _ uint64) {
			if number == 1 && field != nil {
				eachField(field, func(number protowire.Number, _ []byte, n uint64) {
					switch {
					case number == 1 && n < 1<<30:
						pause += time.Duration(n) * time.Second
					case number == 2 && n < uint64(time.Second):
						pause += time.Duration(n)
					}
				})
			}
		})
	})
	return pause, ok
}

// firstLine is what is shown of a text of the receiver.
func firstLine(text string) string {
	text, _, _ = strings.Cut(text, "\n")
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}
