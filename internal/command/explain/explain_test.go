//go:build unix

package explain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/command/commandtest"
	"github.com/belay-run/belay/internal/test/must"
)

func TestExplain(t *testing.T) {
	commandtest.Place(t)
	commandtest.Write(t, "limit.txt", "curl: (22) The requested URL returned error: 429\nRetry-After: 30\n", 0o600)
	commandtest.Write(t, "claude.json", `{"type":"result","subtype":"error","is_error":true,"result":"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"}`+"\n", 0o600)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"--exit-code 0", []string{"class:     ok\nretryable: false\n"}},
		{"--signal KILL", []string{"class:     ", "retryable: false\n", "rule:      "}},
		{"--signal 9", []string{"class:     "}},
		{"--exit-code 22 --stderr limit.txt", []string{"class:     rate_limit\nretryable: false\n", "evidence:  curl: (22)", "429"}}, // no flag asks to judge by stderr
		{"--exit-code 22 --stderr limit.txt --max-retries 1", []string{"class:     rate_limit\nretryable: true\n"}},
		{"--exit-code 22 --stderr limit.txt --fail-on 429 -- curl x", []string{"retryable: false\n"}},
		{"--exit-code 7 --retry-on-exit 7", []string{"retryable: true\n"}},
		{"--exit-code 1 --stdout claude.json -- claude -p hi", []string{"class:     overloaded\nretryable: true\n", "Overloaded"}},
		{"--exit-code 1 --stdout claude.json --profile claude", []string{"class:     overloaded\n"}},
		{"--exit-code 4 -- gh api user", []string{"class:     auth\n"}},
	} {
		commandtest.Belay(t, append([]string{"explain"}, strings.Fields(tt.args)...)...).Ends(0).Says().Prints(tt.want...)
	}
	// From stdin, a file or not.
	text := commandtest.Read(t, "limit.txt")
	commandtest.Call(t, t.Context(), strings.NewReader(text), "explain", "--exit-code", "22", "--stderr", "-", "--max-retries", "1").Ends(0).Prints("class:     rate_limit\n")
	commandtest.Call(t, t.Context(), strings.NewReader(commandtest.Read(t, "claude.json")), "explain", "--exit-code", "1", "--stdout", "-", "--", "claude", "-p", "hi").Ends(0).Prints("class:     overloaded\n")
	f, err := os.Open("limit.txt")
	must.OK(t, err)
	defer f.Close()
	commandtest.Call(t, t.Context(), f, "explain", "--exit-code", "22", "--stderr", "-", "--max-retries", "1").Ends(0).Prints("class:     rate_limit\n")

	got := commandtest.Belay(t, "explain", "--json", "--exit-code", "22", "--stderr", "limit.txt", "--max-retries", "1").Ends(0).Says()
	var v struct {
		Class     string `json:"class"`
		Retryable bool   `json:"retryable"`
	}
	if err := json.Unmarshal([]byte(got.Stdout), &v); err != nil || v.Class != "rate_limit" || !v.Retryable {
		t.Errorf("%v: %s", err, got.Stdout)
	}
	if _, err := os.Stat(os.Getenv("BELAY_STATE_DIR")); err == nil {
		t.Error("explain has written something")
	}
}

// What the seeds spell out, on the stderr of a CLI that has said and done nothing else: its class, and when to come back. gh prints
// whatever GitHub and the way there have said, with and without its own name in front.
func TestExplain_Signals(t *testing.T) {
	commandtest.Place(t)
	signals := map[string]string{
		"rate limited": "rate_limit", "HTTP 429": "rate_limit", "HTTP 429: Retry-After: 30": "rate_limit in 30s", "try again in 30s (HTTP 429)": "rate_limit in 30s",
		"rate limited, resets at 2027-01-02T03:04:05Z": "rate_limit at 2027-01-02T03:04:05Z", "auth failed": "auth", "ECONNRESET": "network", "HTTP 503": "server_error",
	}
	agents := map[string]string{
		"Error: rate limit exceeded": "rate_limit", "Error: 429 Too Many Requests": "rate_limit", "Error: 429 Too Many Requests\nretry-after: 17": "rate_limit in 17s",
		"rate limited, retry after 2 seconds": "rate_limit in 2s", "Error: 401 Unauthorized": "auth", "Error: Invalid API key": "auth", "HTTP 401": "auth",
		"Connection timeout": "network", "Connection reset by peer": "network", "Failed to connect to Claude Code CLI": "network", "ETIMEDOUT": "network", "ENOTFOUND": "network",
		"EPIPE": "network", "Error: connect ECONNREFUSED": "network", "Error: write EPIPE": "network", "HTTP 500": "server_error", "Error: 502 Bad Gateway": "server_error",
		"Error: 503 Service Unavailable": "server_error", "status code 504": "server_error", "Error: the service is overloaded": "overloaded", "Error: request timeout": "timeout",
		"Operation timed out": "timeout", "read 429 lines": "unknown", "src/main.ts:503:12 something": "unknown", "something else": "unknown",
	}
	maps.Copy(agents, signals)
	gh := map[string]string{
		"You have exceeded a secondary rate limit": "rate_limit", "You have exceeded a secondary rate limit and have been blocked.": "rate_limit",
		"You have exceeded a secondary rate limit\nresets at 2027-01-02T03:04:05Z": "rate_limit at 2027-01-02T03:04:05Z",
		"failed to list: You have triggered an abuse detection mechanism":          "rate_limit", "HTTP 429 (retry after 2 seconds)": "rate_limit in 2s",
		"gh: try again in 30s (HTTP 429)": "rate_limit in 30s", "HTTP 403: rate limit exceeded, resets at 2027-01-02T03:04:05Z": "rate_limit at 2027-01-02T03:04:05Z",
		"gh: timeout": "timeout", "timeout": "timeout", "HTTP 404 (resets in 30s)": "not_found", "HTTP 422: x": "invalid_request",
	}
	maps.Copy(gh, signals)
	delete(gh, "rate limited, resets at 2027-01-02T03:04:05Z")
	for command, table := range map[string]map[string]string{"claude": agents, "codex": agents, "gh api user": gh} {
		profile, _, _ := strings.Cut(command, " ")
		args := append([]string{"explain", "--json", "--exit-code", "1", "--stderr", "-", "--profile", profile, "--"}, strings.Fields(command)...)
		for stderr, want := range table {
			var v struct {
				Class string
				After *float64 `json:"retry_after_s"`
				At    *string  `json:"reset_at"`
			}
			o := commandtest.Call(t, t.Context(), strings.NewReader(stderr+"\n"), args...).Ends(0)
			err := json.Unmarshal([]byte(o.Stdout), &v)
			if v.After != nil && v.Class == "rate_limit" {
				v.Class += fmt.Sprintf(" in %vs", *v.After)
			}
			if v.At != nil && v.Class == "rate_limit" {
				v.Class += " at " + *v.At
			}
			if err != nil || v.Class != want {
				t.Errorf("%s, %q: %s, want %s", profile, stderr, o.Stdout, want)
			}
		}
	}
}
