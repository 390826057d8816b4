//go:build linux

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// explained is what `belay explain --json` prints.
type explained struct {
	Class      string
	Retryable  bool
	RetryAfter *float64 `json:"retry_after_s"`
	ResetAt    *string  `json:"reset_at"`
	Rule       string
}

// explainer runs `belay explain` for outcomes that are at hand.
func explainer(t *testing.T) func(profile string, code int, stdout, stderr string, argv ...string) explained {
	dir, id := t.TempDir(), t.Name()+strconv.Itoa(os.Getpid())
	t.Cleanup(func() { afterwards(t, dir, id) })
	env := environment(programs(t), dir, id)
	return func(profile string, code int, stdout, stderr string, argv ...string) (e explained) {
		t.Helper()
		file := filepath.Join(dir, "stdout")
		if err := os.WriteFile(file, []byte(stdout), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"explain", "--json", "--exit-code", strconv.Itoa(code), "--stdout", file, "--stderr", "-"}
		if profile != "" {
			args = append(args, "--profile", profile)
		}
		cmd := exec.Command(filepath.Join(binDir, "belay-plain"), append(append(args, "--"), argv...)...)
		cmd.Env, cmd.Dir, cmd.Stdin = env, dir, strings.NewReader(stderr)
		out, err := cmd.Output()
		if err == nil {
			err = json.Unmarshal(out, &e)
		}
		if err != nil {
			t.Fatalf("%v: %v, %s", cmd.Args, err, out)
		}
		return e
	}
}

// What the seeds spell out, on the stderr of a CLI that has said and done nothing else.
func TestExplain_PlainSignals(t *testing.T) {
	t.Parallel()
	explain := explainer(t)
	for stderr, want := range map[string]string{
		"rate limited":                         "rate_limit",
		"Error: rate limit exceeded":           "rate_limit",
		"HTTP 429":                             "rate_limit",
		"Error: 429 Too Many Requests":         "rate_limit",
		"auth failed":                          "auth",
		"Error: 401 Unauthorized":              "auth",
		"Error: Invalid API key":               "auth",
		"HTTP 401":                             "auth",
		"Connection timeout":                   "network",
		"Connection reset by peer":             "network",
		"Failed to connect to Claude Code CLI": "network",
		"ECONNRESET":                           "network",
		"ETIMEDOUT":                            "network",
		"ENOTFOUND":                            "network",
		"EPIPE":                                "network",
		"Error: connect ECONNREFUSED":          "network",
		"Error: write EPIPE":                   "network",
		"HTTP 500":                             "server_error",
		"Error: 502 Bad Gateway":               "server_error",
		"Error: 503 Service Unavailable":       "server_error",
		"status code 504":                      "server_error",
		"Error: the service is overloaded":     "overloaded",
		"Error: request timeout":               "timeout",
		"Operation timed out":                  "timeout",
		"read 429 lines":                       "unknown",
		"src/main.ts:503:12 something":         "unknown",
		"something else":                       "unknown",
	} {
		for _, profile := range []string{"claude", "codex"} {
			if got := explain(profile, 1, "", stderr+"\n"); got.Class != want {
				t.Errorf("%s, %q: %s by %s, want %s", profile, stderr, got.Class, got.Rule, want)
			}
		}
	}
}

// The time to come back is read wherever it stands.
func TestExplain_HintsOnStderr(t *testing.T) {
	t.Parallel()
	explain := explainer(t)
	for stderr, want := range map[string]float64{
		"HTTP 429: Retry-After: 30":                     30,
		"try again in 30s (HTTP 429)":                   30,
		"Error: 429 Too Many Requests\nretry-after: 17": 17,
		"rate limited, retry after 2 seconds":           2,
	} {
		for _, profile := range []string{"claude", "codex"} {
			if got := explain(profile, 1, "", stderr+"\n"); got.Class != "rate_limit" || got.RetryAfter == nil || *got.RetryAfter != want {
				t.Errorf("%s, %q: %+v, want %v s", profile, stderr, got, want)
			}
		}
	}
	for _, profile := range []string{"claude", "codex"} {
		if got := explain(profile, 1, "", "rate limited, resets at 2027-01-02T03:04:05Z\n"); got.ResetAt == nil || *got.ResetAt != "2027-01-02T03:04:05Z" {
			t.Errorf("%s: %+v", profile, got)
		}
	}
}

// gh prints whatever GitHub and the way there have said, with and without its own name in front.
func TestExplain_GH(t *testing.T) {
	t.Parallel()
	explain := explainer(t)
	for stderr, want := range map[string]explained{
		"You have exceeded a secondary rate limit":                        {Class: "rate_limit", Retryable: true},
		"You have exceeded a secondary rate limit and have been blocked.": {Class: "rate_limit", Retryable: true},
		"failed to list: You have triggered an abuse detection mechanism": {Class: "rate_limit", Retryable: true},
		"gh: timeout":                      {Class: "timeout", Retryable: true},
		"timeout":                          {Class: "timeout", Retryable: true},
		"HTTP 429":                         {Class: "rate_limit", Retryable: true},
		"HTTP 429 (retry after 2 seconds)": {Class: "rate_limit", Retryable: true, RetryAfter: ptr(2.0)},
		"HTTP 429: Retry-After: 30":        {Class: "rate_limit", Retryable: true, RetryAfter: ptr(30.0)},
		"try again in 30s (HTTP 429)":      {Class: "rate_limit", Retryable: true, RetryAfter: ptr(30.0)},
		"gh: try again in 30s (HTTP 429)":  {Class: "rate_limit", Retryable: true, RetryAfter: ptr(30.0)},
		"HTTP 403: rate limit exceeded, resets at 2027-01-02T03:04:05Z":            {Class: "rate_limit", Retryable: true, ResetAt: ptr("2027-01-02T03:04:05Z")},
		"You have exceeded a secondary rate limit\nresets at 2027-01-02T03:04:05Z": {Class: "rate_limit", Retryable: true, ResetAt: ptr("2027-01-02T03:04:05Z")},
		"rate limited":             {Class: "rate_limit", Retryable: true},
		"ECONNRESET":               {Class: "network", Retryable: true},
		"HTTP 503":                 {Class: "server_error", Retryable: true},
		"auth failed":              {Class: "auth"},
		"HTTP 404 (resets in 30s)": {Class: "not_found"},
		"HTTP 422: x":              {Class: "invalid_request"},
	} {
		got := explain("gh", 1, "", stderr+"\n", "gh", "api", "user")
		if got.Class != want.Class || got.Retryable != want.Retryable || !same(got.RetryAfter, want.RetryAfter) || !same(got.ResetAt, want.ResetAt) {
			t.Errorf("%q: %+v, want %+v", stderr, got, want)
		}
	}
}

func ptr[T any](v T) *T { return &v }

func same[T comparable](a, b *T) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}
