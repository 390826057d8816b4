package telemetry_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/telemetry"
	"github.com/belay-run/belay/internal/test/must"
)

func TestFromEnviron(t *testing.T) {
	const all = "OTEL_EXPORTER_OTLP_"
	for _, tt := range []struct {
		env             []string
		traces, metrics string
	}{
		{nil, "http://localhost:4318/v1/traces http/protobuf 10s", "http://localhost:4318/v1/metrics http/protobuf 10s"},
		{[]string{all + "PROTOCOL=grpc"}, "http://localhost:4317 grpc 10s", "http://localhost:4317 grpc 10s"},
		{[]string{all + "ENDPOINT=https://c.example/otlp/", all + "TIMEOUT=500"}, "https://c.example/otlp/v1/traces http/protobuf 500ms", "https://c.example/otlp/v1/metrics http/protobuf 500ms"},
		{[]string{all + "TRACES_ENDPOINT=http://c:1/x", all + "METRICS_PROTOCOL=grpc", all + "METRICS_ENDPOINT=http://d:2"}, "http://c:1/x http/protobuf 10s", "http://d:2 grpc 10s"},
		{[]string{all + "PROTOCOL=grpc", all + "ENDPOINT=c:99", "OTEL_METRICS_EXPORTER=none"}, "https://c:99 grpc 10s", ""},
		{[]string{"OTEL_SDK_DISABLED=true"}, "", ""},
	} {
		s, err := telemetry.FromEnviron(getenv(tt.env))
		if got := fmt.Sprint(describe(s.Traces), "|", describe(s.Metrics)); err != nil || got != tt.traces+"|"+tt.metrics {
			t.Errorf("%v: %s %v", tt.env, got, err)
		}
	}
	for env, name := range map[string]string{all + "PROTOCOL=http/json": all + "PROTOCOL must be http/protobuf or grpc", all + "ENDPOINT=localhost:4318": all + "ENDPOINT is not an address",
		all + "HEADERS=hunter2": all + "HEADERS is not a list", all + "TRACES_TIMEOUT=-1": all + "TRACES_TIMEOUT is not a number", all + "COMPRESSION=zstd": all + "COMPRESSION must be",
		all + "ENDPOINT=http://localhost:99999": all + "ENDPOINT is not an address", all + "TRACES_ENDPOINT=http://localhost:0": all + "TRACES_ENDPOINT is not an address",
		"OTEL_TRACES_EXPORTER=zipkin": "OTEL_TRACES_EXPORTER must be"} {
		if _, err := telemetry.FromEnviron(getenv([]string{env})); err == nil || !strings.HasPrefix(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", env, err)
		}
	}
}

// A receiver that a user knows to be slow has its time also where a user waits for it.
func TestSettings_Within(t *testing.T) {
	for timeout, want := range map[string]time.Duration{"": 9 * time.Second, "500": 9 * time.Second, "10000": 9 * time.Second, "20000": 20 * time.Second} {
		s, err := telemetry.FromEnviron(getenv([]string{"OTEL_EXPORTER_OTLP_METRICS_TIMEOUT=" + timeout}))
		if got := s.Within(9 * time.Second); err != nil || got != want {
			t.Errorf("%s: %s, %v", timeout, got, err)
		}
	}
}

func getenv(env []string) func(string) string {
	return func(name string) string {
		for _, kv := range env {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func describe(t *telemetry.Target) string {
	if t == nil {
		return ""
	}
	return t.Address() + " " + t.Protocol() + " " + t.Timeout.String()
}

// With TLS, a receiver is trusted by the certificate that the variables name, and by no other.
func TestTLS(t *testing.T) {
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		w := newWorld(t)
		server := httptest.NewUnstartedServer(w.receiver)
		server.EnableHTTP2 = true
		server.TLS = &tls.Config{MinVersion: tls.VersionTLS12}
		server.StartTLS()
		defer server.Close()
		w.env["OTEL_EXPORTER_OTLP_ENDPOINT"], w.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = server.URL, protocol
		w.env["OTEL_EXPORTER_OTLP_TIMEOUT"] = "2000"
		w.append(plainRun("run-1"))
		if _, err := w.send(); err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", protocol, err)
		}
		path := filepath.Join(t.TempDir(), "ca.pem")
		must.OK(t, os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))
		w.env["OTEL_EXPORTER_OTLP_CERTIFICATE"] = path
		if _, err := w.send(); err != nil || len(w.receiver.Spans()) != 2 || w.receiver.Trouble() != nil {
			t.Errorf("%s: %v, %d spans, %v", protocol, err, len(w.receiver.Spans()), w.receiver.Trouble())
		}
	}
}

// A receiver that asks for a certificate gets that of the variables.
func TestTLS_ClientCertificate(t *testing.T) {
	cert, key := selfSigned(t)
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	for _, protocol := range []string{"http/protobuf", "grpc"} {
		w := newWorld(t)
		server := httptest.NewUnstartedServer(w.receiver)
		server.EnableHTTP2 = true
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool, MinVersion: tls.VersionTLS12}
		server.StartTLS()
		defer server.Close()
		dir := t.TempDir()
		file := func(name string, data []byte) string {
			path := filepath.Join(dir, name)
			must.OK(t, os.WriteFile(path, data, 0o600))
			return path
		}
		w.env["OTEL_EXPORTER_OTLP_ENDPOINT"], w.env["OTEL_EXPORTER_OTLP_PROTOCOL"] = server.URL, protocol
		w.env["OTEL_EXPORTER_OTLP_TIMEOUT"] = "2000"
		w.env["OTEL_EXPORTER_OTLP_CERTIFICATE"] = file("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
		w.append(plainRun("run-1"))
		if _, err := w.send(); err == nil {
			t.Errorf("%s: sent without a certificate", protocol)
		}
		w.env["OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE"], w.env["OTEL_EXPORTER_OTLP_CLIENT_KEY"] = file("cert.pem", cert), file("key.pem", key)
		if _, err := w.send(); err != nil || len(w.receiver.Spans()) != 2 || w.receiver.Trouble() != nil {
			t.Errorf("%s: %v, %d spans, %v", protocol, err, len(w.receiver.Spans()), w.receiver.Trouble())
		}
	}
}

// selfSigned makes a certificate of a client, and its key.
func selfSigned(t *testing.T) (cert, key []byte) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must.OK(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	must.OK(t, err)
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	must.OK(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}
