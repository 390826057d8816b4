package verdict_test

import (
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// Every signal that the five seeds spell out, and how real programs word them.
func TestLastResort(t *testing.T) {
	for text, want := range map[string]string{
		// Seed 000: the Claude CLI client.
		"rate limited":                  "rate_limit rate-limit",
		"HTTP 429":                      "rate_limit status-429",
		"Error: 429 Too Many Requests":  "rate_limit rate-limit",
		"Rate limit - retry later":      "rate_limit rate-limit",
		"auth failed":                   "auth auth",
		"Error: 401 Unauthorized":       "auth auth",
		"Authentication failed":         "auth auth",
		"authentication failure":        "auth auth",
		"Command timed out":             "timeout timeout",
		"Error: command timed out: 300": "timeout timeout",

		// Seed 001: the SDK.
		"Failed to connect to Claude Code CLI": "network connection",
		"Connection timeout":                   "network connection",
		"Connection reset by peer":             "network connection",
		"Operation timed out":                  "timeout timeout",
		"Error: Invalid API key":               "auth auth",
		"Model not found":                      "not_found status-404",
		"Invalid tool configuration":           "invalid_request configuration",
		"Invalid session configuration":        "invalid_request configuration",

		// Seed 002: gh.
		"You have exceeded a secondary rate limit": "rate_limit rate-limit",
		"HTTP 429 (retry after 2 seconds)":         "rate_limit status-429",
		"x-ratelimit-remaining: 0":                 "rate_limit rate-limit",
		"X-Ratelimit-Remaining: 0":                 "rate_limit rate-limit",
		`{"type": "RATE_LIMITED"}`:                 "rate_limit rate-limit",
		"HTTP 500":                                 "server_error server-error",
		"HTTP 502":                                 "server_error server-error",
		"HTTP 503":                                 "server_error server-error",
		"HTTP 504":                                 "server_error server-error",
		"connection refused":                       "network connection",
		"gh: timeout":                              "timeout timeout",
		"timeout":                                  "timeout timeout",
		`Post "https://api.github.com/graphql": EOF`: "network cut",
		"read tcp 10.0.0.1:443: unexpected EOF":      "network cut",
		"HTTP 401":                                   "auth status-401",
		"HTTP 404":                                   "not_found status-404",
		"HTTP 400":                                   "invalid_request status-400",
		"HTTP 422":                                   "invalid_request status-400",

		// Seed 003: the integrations.
		"ECONNRESET": "network errno", "ETIMEDOUT": "network errno", "ENOTFOUND": "network errno", "EPIPE": "network errno",
		"Error: read ECONNRESET":                      "network errno",
		"Error: write EPIPE":                          "network errno",
		"connect ECONNREFUSED 127.0.0.1:443":          "network errno",
		"getaddrinfo ENOTFOUND api.anthropic.com":     "network errno",
		"getaddrinfo EAI_AGAIN api.anthropic.com":     "network errno",
		"status: 503":                                 "server_error server-error",
		"Timeout after 30000ms":                       "timeout timeout",
		"codex timed out after 120000ms":              "timeout timeout",
		"API rate limit errors (429)":                 "rate_limit rate-limit",
		"Error: 503 Service Unavailable":              "server_error server-error",
		"Service overloaded, please retry":            "overloaded overloaded",
		"the model is overloaded":                     "overloaded overloaded",
		"TypeError: fetch failed":                     "network connection",
		"timeout of 30000ms exceeded":                 "timeout timeout",
		"Error: socket hang up":                       "network connection",
		"Error: Request failed with status code 429":  "rate_limit status-429",
		"Error: Request failed with status code 401":  "auth status-401",
		"Error: Request failed with status code 403.": "auth status-401",

		// How else a status is written.
		"HTTP/1.1 429":                          "rate_limit status-429",
		"< HTTP/2 429 ":                         "rate_limit status-429",
		"status=429":                            "rate_limit status-429",
		"status_code=502":                       "server_error server-error",
		`{"statusCode":429,"x":1}`:              "rate_limit status-429",
		`{"error":{"code":"503"}}`:              "server_error server-error",
		"HTTP Error 502: Bad Gateway":           "server_error server-error",
		"HTTPError: 429 Client Error":           "rate_limit status-429",
		"error code: 504":                       "server_error server-error",
		"error (529)":                           "overloaded overloaded",
		"429 error from the API":                "rate_limit status-429",
		"got a 500 error":                       "server_error server-error",
		"HTTP 403: secondary rate limit":        "rate_limit rate-limit",
		"HTTP 402":                              "billing billing",
		"HTTP 413":                              "too_large status-413",
		"HTTP 408":                              "server_error server-error",
		"Error: 529 overloaded_error":           "overloaded overloaded",
		"503: the service is at capacity":       "overloaded overloaded",
		"429 You exceeded your current quota":   "billing billing",
		"\x1b[31mError: 429\x1b[0m":             "rate_limit status-429",
		"first line\nHTTP 429\nlast line":       "rate_limit status-429",
		"dial tcp 10.0.0.1:443: i/o timeout":    "network connection",
		"TLS handshake timeout":                 "timeout timeout",
		"context deadline exceeded":             "timeout timeout",
		"could not resolve host: x":             "network name",
		"dial tcp: lookup x: no such host":      "network name",
		"504 Gateway Time-out":                  "server_error server-error",
		"unable to connect: SSL certificate":    "invalid_request certificate",
		"Error: SELF_SIGNED, CERT_HAS_EXPIRED":  "invalid_request certificate",
		"error: invalid value for --timeout":    "invalid_request wrong-use",
		"error: unknown option '--rate-limit'":  "invalid_request wrong-use",
		"Usage: x [--connection-timeout 429]":   "invalid_request wrong-use",
		"error: missing required argument 'id'": "invalid_request wrong-use",
	} {
		v, ok := verdict.LastResort(exited(1, "", text), now)
		if got := string(v.Class) + " " + v.Rule; !ok || got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if ok && (v.Retryable != v.Class.Retryable() || v.Evidence == "") {
			t.Errorf("%q: retryable %v, evidence %q", text, v.Retryable, v.Evidence)
		}
	}
}

// What looks like a signal, and is none.
func TestLastResort_Abstains(t *testing.T) {
	for _, text := range []string{
		"", "exit 1", "429", "read 429 lines", "line 503", "src/main.go:429:12: syntax error", "error: 429:12 unexpected token",
		"took 500 ms", "the port 5020 is taken", "version 4.2.9", "error 4290", "code 42", "HTTP server listens on port 8429",
		"TestRateLimiter failed", "test_429_is_retried", "--rate-limit", "--timeout", "a timeout setting of 5", "timeouts",
		"no such file or directory", "permission denied", "Segmentation fault", "killed", "EPIPELINE", "RECONNECTING",
		"JSON Parse error: Unexpected EOF", "author failed", "generate limits", "status 42900", "x-ratelimit-remaining: 4999",
	} {
		if v, ok := verdict.LastResort(exited(1, "", text), now); ok {
			t.Errorf("%q is %s by %s", text, v.Class, v.Rule)
		}
	}
	if v, ok := verdict.LastResort(exited(0, "", "HTTP 429"), now); ok {
		t.Errorf("a success is %s", v.Class)
	}
}

func TestLastResort_TakesHints(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"HTTP 429: Retry-After: 30":                30 * time.Second,
		"HTTP 429\nretry-after: 17":                17 * time.Second,
		"try again in 30s (HTTP 429)":              30 * time.Second,
		"HTTP 429 (retry after 2 seconds)":         2 * time.Second,
		"rate limited; resets at " + in(time.Hour): time.Hour,
		"Error: 503, retry in 5 minutes":           5 * time.Minute,
		"auth failed, try again in 30s":            0, // a hint does not make auth retryable
	} {
		v, ok := verdict.LastResort(exited(1, "", text), now)
		if !ok || v.Hint.Wait(now) != want {
			t.Errorf("%q: %v, want %v", text, v.Hint.Wait(now), want)
		}
	}
}

func in(d time.Duration) string { return now.Add(d).UTC().Format(time.RFC3339) }

// However much was printed, its end is what counts.
func TestLastResort_Large(t *testing.T) {
	noise := strings.Repeat("error: something else happened in line 429 of the file\n", 20000)
	for text, want := range map[string]verdict.Class{
		noise + "HTTP 429\n":                verdict.RateLimit,
		"HTTP 429\n" + noise:                "",
		noise[:1000] + "\nECONNRESET\n":     verdict.Network,
		noise[:150<<10] + "\nECONNRESET\n":  verdict.Network,
		"ECONNRESET\n" + noise[:20<<10]:     verdict.Network,
		"HTTP 429\n" + noise + "ECONNRESET": verdict.Network,
	} {
		if v, _ := verdict.LastResort(exited(1, "", text), now); v.Class != want {
			t.Errorf("%d bytes: %s by %s, want %s", len(text), v.Class, v.Rule, want)
		}
	}
}
