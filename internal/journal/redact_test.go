package journal_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/verdict"
)

// random is text of an alphabet.
func random(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[rand.IntN(len(alphabet))]
	}
	return string(b)
}

const (
	alnum  = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	urlish = alnum + "_-"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	hexa   = "0123456789abcdef"
)

// shapes are keys as the vendors make them, by length and alphabet. They are not valid anywhere.
func shapes() map[string]string {
	return map[string]string{
		"Anthropic API key":       "sk-ant-api03-" + random(urlish, 93) + "AA",
		"Anthropic admin key":     "sk-ant-admin01-" + random(urlish, 93) + "AA",
		"Anthropic OAuth token":   "sk-ant-oat01-" + random(urlish, 93) + "AA",
		"Anthropic refresh token": "sk-ant-ort01-" + random(urlish, 93) + "AA",
		"OpenAI legacy key":       "sk-" + random(alnum, 20) + "T3BlbkFJ" + random(alnum, 20),
		"OpenAI project key":      "sk-proj-" + random(urlish, 74) + "T3BlbkFJ" + random(urlish, 74),
		"OpenAI service account":  "sk-svcacct-" + random(urlish, 74) + "T3BlbkFJ" + random(urlish, 74),
		"OpenRouter key":          "sk-or-v1-" + random(hexa, 64),
		"GitHub classic token":    "ghp_" + random(alnum, 36),
		"GitHub OAuth token":      "gho_" + random(alnum, 36),
		"GitHub app token":        "ghs_" + random(alnum, 36),
		"GitHub refresh token":    "ghr_" + random(alnum, 76),
		"GitHub fine-grained":     "github_pat_" + random(alnum, 22) + "_" + random(alnum, 59),
		"Google API key":          "AIza" + random(urlish, 35),
		"Google access token":     "ya29." + random(urlish, 120),
		"Google client secret":    "GOCSPX-" + random(urlish, 28),
		"AWS key id":              "AKIA" + random(upper, 16),
		"AWS session key id":      "ASIA" + random(upper, 16),
		"Slack bot token":         "xoxb-" + random("0123456789", 12) + "-" + random("0123456789", 12) + "-" + random(alnum, 24),
		"GitLab token":            "glpat-" + random(urlish, 20),
		"Hugging Face token":      "hf_" + random(alnum, 34),
		"npm token":               "npm_" + random(alnum, 36),
		"xAI key":                 "xai-" + random(alnum, 80),
		"Groq key":                "gsk_" + random(alnum, 52),
		"Stripe key":              "sk_live_" + random(alnum, 24),
		"JSON Web Token":          "eyJ" + random(urlish, 30) + ".eyJ" + random(urlish, 60) + "." + random(urlish, 43),
	}
}

// around is where keys turn up.
var around = []string{"%s", "Incorrect API key provided: %s.", "key=%s", `{"error":{"message":"bad key %s"}}`, "'%s'", "\"%s\"", "(%s)", "x,%s,y", "url?key=%s&x=1",
	"fatal:\t%s\n", "env ANTHROPIC_API_KEY=%s claude", "<%s>", "%s: refused", "a=b;%s;c"}

func TestRedact_RealShapes(t *testing.T) {
	for name, key := range shapes() {
		for _, text := range around {
			got := journal.Redact(fmt.Sprintf(text, key))
			if strings.Contains(got, key) || strings.Contains(got, key[len(key)-8:]) {
				t.Errorf("%s in %q: %q", name, text, got)
			}
		}
	}
}

// What has no shape of its own is known by what stands before it.
func TestRedact_ByName(t *testing.T) {
	secret := random(alnum, 30) + "/+" + random(alnum, 8)
	for _, text := range []string{
		"Authorization: Bearer %s", "authorization: bearer %s", `"Authorization": "Bearer %s"`, "-H 'Authorization: Bearer %s'", "Authorization: Basic %s",
		"> authorization: token %s", "x-api-key: %s", "X-Goog-Api-Key: %s", `"x-api-key":"%s"`, "Cookie: session=%s; other=1", "Set-Cookie: id=%s",
		"Proxy-Authorization: Basic %s", "PRIVATE-TOKEN: %s", "AWS_SECRET_ACCESS_KEY=%s", "aws_secret_access_key = %s", "AWS_SESSION_TOKEN=%s",
		"OPENAI_API_KEY=%s", "export ANTHROPIC_AUTH_TOKEN='%s'", `"client_secret": "%s"`, `{\"apiKey\":\"%s\"}`, "password=%s", "PGPASSWORD=%s psql", `passwd: "%s"`,
		"--api-key %s", "--token=%s", "--password %s", "https://user:%s@example.com/x", "postgres://me:%s@db:5432/x", "https://x-access-token:%s@github.com/o/r",
		"https://example.com/?api_key=%s&page=2", "GET /v1?access_token=%s HTTP/1.1", "https://example.com/x?sig=%s",
	} {
		secret := secret
		if strings.Contains(text, "://") && !strings.Contains(text, "?") {
			secret = strings.ReplaceAll(secret, "/", "%2F")
		}
		got := journal.Redact(fmt.Sprintf(text, secret))
		if strings.Contains(got, secret) || strings.Contains(got, secret[:16]) {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, url := range []string{"https://user:p@ss:word@example.com/path", "mongodb+srv://u:hunter2secret@c.example.net/?x=1", "redis://:hunter2secret@host"} {
		if got := journal.Redact("cannot open " + url + " now"); strings.Contains(got, "word") || strings.Contains(got, "hunter2") || !strings.Contains(got, " now") {
			t.Errorf("%q: %q", url, got)
		}
	}
	key := "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE\nAAAABG5vbmU=\n-----END OPENSSH PRIVATE KEY-----"
	for _, text := range []string{key, key[:60]} { // also one that was cut
		if got := journal.Redact("read " + text + "\n"); strings.Contains(got, "b3Blb") {
			t.Errorf("%q", got)
		}
	}
}

// What is no secret stays readable: it is what a user needs to understand a failure.
func TestRedact_LeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"exit 1", "HTTP 429: rate limit exceeded, try again in 17s", "12 tokens used", "input_tokens: 1234, output_tokens: 56",
		"open /home/user/secret: no such file", "https://example.com:8080/path?page=2", "git@github.com:o/r.git", "http://127.0.0.1:8080/v1/messages",
		"session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 not found", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"Error: ENOENT: no such file or directory, open 'token.json'", "unexpected token < in JSON at position 0", "Invalid API key · Fix external API key",
		"the secret is out", "password must not be empty", "dial tcp 10.0.0.1:443: connect: connection refused", "risk-averse task-oriented desk-bound",
		"claude-sonnet-4-5-20250929", "token limit of 200000 exceeded", "max_tokens: 4096", "resets 3pm (Europe/Berlin)",
	} {
		if got := journal.Redact(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// Whatever stands around a key, it does not get through, and what comes out is bounded.
func FuzzRedact_Around(f *testing.F) {
	f.Add("Authorization: Bearer abcdefghijklmnop")
	f.Add(`{"api_key": "x y z", "token":"abcd"}`)
	f.Add("https://u:p@h/?key=abc&sig=d")
	f.Fuzz(func(t *testing.T, s string) {
		once := journal.Redact(s)
		if len(once) > 20*len(s)+20 {
			t.Errorf("%d bytes became %d", len(s), len(once))
		}
		for name, key := range map[string]string{"anthropic": "sk-ant-api03-REDACTMEREDACTME", "github": "ghp_REDACTMEREDACTMEREDACTMEREDACTME12", "aws": "AKIAREDACTMEREDACTME"} {
			if got := journal.Redact(s + "\n" + key + "\n" + s); strings.Contains(got, key) {
				t.Errorf("%s gets through %q: %q", name, s, got)
			}
		}
	})
}

// A detail stays JSON, whatever is redacted in it.
func TestLog_RedactsDetails(t *testing.T) {
	key := shapes()["Anthropic API key"]
	path := filepath.Join(t.TempDir(), "log.jsonl")
	e := entry("x")
	e.Kind, e.Event, e.Error = journal.Hook, "PreToolUse", "failed with "+key
	e.Detail = json.RawMessage(fmt.Sprintf(`{"error":"Authorization: Bearer %s","api_key":"plain","n":1,"list":["%s",{"password":"hunter2"}],"tokens":7,"session_key":"s1"}`, key, key))
	if err := (&journal.Log{Path: path}).Append(e); err != nil {
		t.Fatal(err)
	}
	list, torn := read(t, path)
	if len(list) != 1 || torn != 0 {
		t.Fatalf("%+v, %d torn", list, torn)
	}
	text := list[0].Error + string(list[0].Detail)
	if strings.Contains(text, key) || strings.Contains(text, "plain") || strings.Contains(text, "hunter2") {
		t.Errorf("%s", text)
	}
	var d map[string]any
	if err := json.Unmarshal(list[0].Detail, &d); err != nil || d["n"] != 1.0 || d["tokens"] != 7.0 || d["session_key"] != "s1" {
		t.Errorf("%s: %v", list[0].Detail, err)
	}
}

func TestLog_LongDetailsAreShortened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log.jsonl")
	e := entry("x")
	e.Kind = journal.Hook
	e.Detail, _ = json.Marshal(map[string]string{"hook_name": "fmt", "stack": strings.Repeat("main.go:12\n", 5000)})
	if err := (&journal.Log{Path: path}).Append(e); err != nil {
		t.Fatal(err)
	}
	list, _ := read(t, path)
	var d struct {
		Name  string `json:"hook_name"`
		Stack string
	}
	if len(list) != 1 || json.Unmarshal(list[0].Detail, &d) != nil || d.Name != "fmt" || len(d.Stack) < 500 || !strings.HasSuffix(d.Stack, "…") {
		t.Errorf("%+v", list)
	}
}

func TestClassify(t *testing.T) {
	for class, want := range map[verdict.Class]string{
		verdict.Network: "network true connection warning", verdict.Timeout: "timeout true connection warning", verdict.RateLimit: "rate_limit true sdk warning",
		verdict.Auth: "auth false sdk error", verdict.NotFound: "not_found false sdk error", verdict.Overloaded: "overloaded true sdk warning",
		verdict.Unknown: "unknown false unknown error", verdict.Crash: "crash false unknown error", verdict.Stalled: "stalled true unknown warning",
		verdict.ToolMissing: "tool_missing false unknown error",
	} {
		c := journal.Classify(class, "why")
		if got := fmt.Sprintf("%s %v %s %s", c.Type, c.IsRetryable, c.Category, c.Severity); got != want || c.Message != "why" {
			t.Errorf("%s: %s, want %s", class, got, want)
		}
	}
	data, _ := json.Marshal(journal.Classify(verdict.Auth, "m"))
	if want := `{"type":"auth","message":"m","is_retryable":false,"category":"sdk","severity":"error"}`; string(data) != want {
		t.Errorf("%s", data)
	}
}
