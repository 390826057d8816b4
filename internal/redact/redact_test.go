package redact_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/redact/redacttest"
)

// around is where tokens turn up.
var around = []string{"%s", "Incorrect API key provided: %s.", "key=%s", `{"error":{"message":"bad key %s"}}`, "'%s'", "\"%s\"", "(%s)", "x,%s,y", "url?key=%s&x=1",
	"fatal:\t%s\n", "env ANTHROPIC_API_KEY=%s claude", "<%s>", "%s: refused", "a=b;%s;c", `{\"message\":\"first\n%s\nlast\"}`, "\x1b[31m%s\x1b[0m", "got%%20%s", "[%s]", "`%s`"}

// Every token that has a shape is recognised wherever it stands, by its shape alone.
func TestText_Shapes(t *testing.T) {
	m := redacttest.New(1)
	for _, shape := range redacttest.Tokens {
		for range 5 {
			token := shape.Make(m)
			for _, text := range around {
				got := redact.Text(fmt.Sprintf(text, token))
				if strings.Contains(got, token) || strings.Contains(got, token[len(token)-8:]) {
					t.Errorf("%s in %q: %q", shape.Name, text, got)
				}
			}
		}
	}
}

// What has no shape of its own is known by its place.
func TestText_Places(t *testing.T) {
	m := redacttest.New(2)
	for _, place := range redacttest.Places {
		for range 20 {
			text, secret := place.Make(m)
			if got := redact.Text(text); strings.Contains(got, secret) {
				t.Errorf("%s: %q became %q", place.Name, text, got)
			} else if !strings.Contains(got, redact.Marker) {
				t.Errorf("%s: no marker in %q", place.Name, got)
			}
		}
	}
}

// What is no secret stays readable: it is what a user needs to understand a failure.
func TestText_LeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"exit 1", "HTTP 429: rate limit exceeded, try again in 17s", "12 tokens used", "input_tokens: 1234, output_tokens: 56",
		"open /home/user/secret: no such file", "https://example.com:8080/path?page=2", "git@github.com:o/r.git", "http://127.0.0.1:8080/v1/messages",
		"session 3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66 not found", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"Error: ENOENT: no such file or directory, open 'token.json'", "unexpected token < in JSON at position 0", "Invalid API key · Fix external API key",
		"the secret is out", "password must not be empty", "dial tcp 10.0.0.1:443: connect: connection refused", "risk-averse task-oriented desk-bound",
		"claude-sonnet-4-5-20250929", "token limit of 200000 exceeded", "max_tokens: 4096", "resets 3pm (Europe/Berlin)",
		"session=3f9c1a52-8f0e-4b5a-9d43-0c4f8e1b7a66", "run 019a8b2c-1d2e-7f30-8a4b-5c6d7e8f9a0b was killed", "mcp-019a8b2c1d2e-0badf00d", "hook-1234-00112233445566aa",
		"commit 52c78ef1d5a5c0f2c1b8c1f7d8e6a9b0c3d4e5f6 not found", "request id: req_011CSHoEeqs5C35K2UUqR7Fy", "msg_01XFDUDYJgAACzvnptvVoYEL", "x-request-id: 4f8e1b7a-6690-4b5a-9d43-0c4f8e1b7a66",
		"password is required", "Password: required", "invalid token: unexpected EOF", "unexpected token: punctuation", "The token is expired", "--password is required", "the --token flag needs a value",
		"unknown flag: --api-key", "secret not found: my-app", "authorization failed", "Basic authentication failed", "Bearer authentication is required", "API key: missing", "password=", "token=$TOKEN",
		"Set ANTHROPIC_API_KEY or run claude login", "export GITHUB_TOKEN=<your token>", "AbstractSingletonProxyFactoryBean: not found", "TestHandlersWithUnknownProfileName failed",
		"npm ERR! code E404", "npm ERR! 404 '@babel/plugin-proposal-private-property-in-object@7.21.12' is not in this registry.", "github.com/belay-run/belay v0.0.0-20240102150405-abcdef123456: missing go.sum entry",
		"docker run -u 1000:1000 image", "image nginx:1.25@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "write to me: mailto:ann@example.com", "cannot parse author:ann@example.com",
		"https://user@example.com/", "ssh://git@github.com/o/r", "goroutine 1 [running]:", "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/x", "at Object.<anonymous> (/app/node_modules/foo/index.js:12:34)",
		"claude:api.anthropic.com:3f9c1a52", "gcc -pthread -print-search-dirs -pedantic-errors", "ssh -p2222 host", "ssh -p 2222 host", "docker run -p 8080:80 nginx", "mkdir -p src/main2go", "PASS ok", "password authentication failed for user postgres", "usage: tool --token <token> [--name <name>]", "<password></password>", "https%3A%2F%2Fexample.com%2Fa%40b", "password hash mismatch", "password policy: at least 12 characters", "key=cache-linux-v2", "code=ERR_MODULE_NOT_FOUND",
	} {
		if got := redact.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The time is linear in the length of the text, whatever is in it. It compares times, which a busy machine spoils.
func TestText_Hostile(t *testing.T) {
	if os.Getenv("BELAY_TEST_FULL") == "" {
		t.Skip("only with BELAY_TEST_FULL=1")
	}
	for _, piece := range []string{"a", "a-", "sk-", "key=", "pw={", "cookie: $ ", "cookie: {", "token 'x ", "a:", "a:b@", "http://", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "[redacted]", "[redac", `\`, `\"`, "%41", "password is ",
		"-p", "-u a:b ", "a:b@c:d ", "curl -u ", "<password ", "&quot;", `\u0041`, "echo x | ", "nonce=\"a\", ", "eyJ", "AKIA", "1234567890:", "password=a,b;c&", "\x1b[", "token: token: ", "session=a1b2c3d4/", "é", "\xff", "x/y+", "A1b2C3d4", "Authorization: Bearer ", "secret\\\": \\\""} {
		took := func(n int) time.Duration {
			text := strings.Repeat(piece, n/len(piece))
			begun := time.Now()
			redact.Text(text)
			return time.Since(begun)
		}
		var short, long time.Duration
		for range 4 { // the machine may be busy with other things once
			if short, long = took(16<<10), took(128<<10); long <= 500*time.Millisecond || long <= 24*short {
				break
			}
		}
		if long > 500*time.Millisecond && long > 24*short {
			t.Errorf("%q: %v for 16 KiB, %v for 128 KiB", piece, short, long)
		}
	}
}

// Whatever stands around a key, it does not get through; redacted text stays as it is, and valid where it was.
func FuzzText(f *testing.F) {
	f.Add("Authorization: Bearer abcdefghijklmnop")
	f.Add(`{"api_key": "x y z", "token":"abcd"}`)
	f.Add("https://u:p@h/?key=abc&sig=d")
	f.Add("-u a:b -pPASS password is x1y2z3 [redacted]é")
	f.Add(`\"secret\":\"a\\\"b\" %3D %22`)
	f.Fuzz(func(t *testing.T, s string) {
		once := redact.Text(s)
		if again := redact.Text(once); again != once {
			t.Errorf("%q became %q, and then %q", s, once, again)
		}
		if utf8.ValidString(s) && !utf8.ValidString(once) {
			t.Errorf("%q became %q", s, once)
		}
		if len(once) > 11*len(s)+11 {
			t.Errorf("%d bytes became %d", len(s), len(once))
		}
		for _, key := range []string{"sk-ant-api03-REDACTMEREDACTME", "ghp_REDACTMEREDACTMEREDACTMEREDACTME12", "AKIAREDACTMEREDACTME"} {
			if got := redact.Text(s + "\n" + key + "\n" + s); strings.Contains(got, key) {
				t.Errorf("%s gets through %q: %q", key, s, got)
			}
		}
	})
}
