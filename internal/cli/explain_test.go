//go:build unix

package cli_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestExplain(t *testing.T) {
	place(t)
	write(t, "limit.txt", "curl: (22) The requested URL returned error: 429\nRetry-After: 30\n", 0o600)
	write(t, "claude.json", `{"type":"result","subtype":"error","is_error":true,"result":"API Error: 529 {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}","session_id":"3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66"}`+"\n", 0o600)
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"--exit-code 0", []string{"class:     ok\nretryable: false\n"}},
		{"--signal KILL", []string{"class:     ", "retryable: false\n", "rule:      "}},
		{"--signal 9", []string{"class:     "}},
		{"--exit-code 22 --stderr limit.txt", []string{"class:     unknown\nretryable: false\n", "evidence:  curl: (22)", "429"}}, // no flag asks to judge by stderr
		{"--exit-code 22 --stderr limit.txt --max-retries 1", []string{"class:     rate_limit\nretryable: true\n"}},
		{"--exit-code 22 --stderr limit.txt --fail-on 429 -- curl x", []string{"retryable: false\n"}},
		{"--exit-code 7 --retry-on-exit 7", []string{"retryable: true\n"}},
		{"--exit-code 1 --stdout claude.json -- claude -p hi", []string{"class:     overloaded\nretryable: true\n", "Overloaded"}},
		{"--exit-code 1 --stdout claude.json --profile claude", []string{"class:     overloaded\n"}},
		{"--exit-code 4 -- gh api user", []string{"class:     auth\n"}},
	} {
		belay(t, append([]string{"explain"}, strings.Fields(tt.args)...)...).ends(0).says().prints(tt.want...)
	}
	// From stdin, a file or not.
	text := read(t, "limit.txt")
	call(t, t.Context(), strings.NewReader(text), "explain", "--exit-code", "22", "--stderr", "-", "--max-retries", "1").ends(0).prints("class:     rate_limit\n")
	call(t, t.Context(), strings.NewReader(read(t, "claude.json")), "explain", "--exit-code", "1", "--stdout", "-", "--", "claude", "-p", "hi").ends(0).prints("class:     overloaded\n")
	f, err := os.Open("limit.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	call(t, t.Context(), f, "explain", "--exit-code", "22", "--stderr", "-", "--max-retries", "1").ends(0).prints("class:     rate_limit\n")

	got := belay(t, "explain", "--json", "--exit-code", "22", "--stderr", "limit.txt", "--max-retries", "1").ends(0).says()
	var v struct {
		Class     string `json:"class"`
		Retryable bool   `json:"retryable"`
	}
	if err := json.Unmarshal([]byte(got.stdout), &v); err != nil || v.Class != "rate_limit" || !v.Retryable {
		t.Errorf("%v: %s", err, got.stdout)
	}
	if _, err := os.Stat(os.Getenv("BELAY_STATE_DIR")); err == nil {
		t.Error("explain has written something")
	}
}
