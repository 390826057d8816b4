package redact_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf16"

	"github.com/belay-run/belay/internal/redact"
)

// A value that looks like nothing is taken out wherever it stands, because of the variable or option that it was given by.
func TestKnown_Values(t *testing.T) {
	const password, pin, token, lines = `correct horse/"battery" staple`, "x7#qw", "plainwordtoken", "first line\nsecond line of it"
	k := &redact.Known{
		Env: []string{"DB_PASSWORD=" + password, "PIN_CODE=1234", "APP_SECRET=" + pin, "HOME=/home/ann", "GOOGLE_APPLICATION_CREDENTIALS=/home/ann/key.json", "USE_TOKEN=true", "SIGNING_KEY=" + lines,
			"DATABASE_URL=postgres://ann:urlpassword@db/x"},
		Args: []string{"tool", "--token", token, "--api-key=joinedvalue", "-u", "ann:userpassword", "--verbose"},
	}
	quoted, _ := json.Marshal(password)
	again, _ := json.Marshal(string(quoted))
	for _, secret := range []string{password, pin, token, "joinedvalue", "userpassword", "urlpassword", "second line of it", strings.Trim(string(quoted), `"`), string(again[3 : len(again)-3]),
		url.QueryEscape(password), base64.StdEncoding.EncodeToString([]byte(password)), base64.RawURLEncoding.EncodeToString([]byte(token))} {
		text := fmt.Sprintf("it refused %s, and so it ended", secret)
		if secret == url.QueryEscape(password) {
			text = strings.ReplaceAll(text, "+", "%20")
		}
		if got := k.Text(text); got != "it refused [redacted], and so it ended" {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, cut := range []string{"it refused " + password[:12], "it refused " + password[:12] + "…; gave up", "it refused " + password[:12] + "... and more"} {
		if got := k.Text(cut); strings.Contains(got, password[:10]) {
			t.Errorf("%q became %q", cut, got)
		}
	}
	if got := k.Text("…" + password[10:] + " was refused"); strings.Contains(got, password[12:]) {
		t.Errorf("%q", got)
	}
	for _, text := range []string{"open /home/ann/key.json: no such file", "true is not 1234", "exit status 1", "tool --verbose failed", "ann is not allowed"} {
		if got := k.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The prompt is taken out however it is quoted: as a whole, cut, by lines, escaped, wrapped. What has a few words in common with
// it stays.
func TestKnown_Prompt(t *testing.T) {
	const prompt = "Refactor the billing module of Initech.\nThe customer list is in \"data/people.csv\"; password for the copy: tuesday\n\tMake it shorter.\nüber-geheime Pläne für Zürich"
	k := &redact.Known{Prompt: func() []string { return []string{"", prompt} }}
	escaped, _ := json.Marshal(prompt)
	twice, _ := json.Marshal(string(escaped))
	for name, text := range map[string]string{
		"whole": "bad request: " + prompt, "JSON": fmt.Sprintf(`{"error":"cannot do %s"}`, escaped), "JSON in JSON": fmt.Sprintf(`{"error":%s}`, twice), "Go": fmt.Sprintf("cannot do %q now", prompt),
		"cut": "prompt too long: " + prompt[:30] + "…", "cut soon": "prompt too long: " + prompt[:12] + "...", "cut without a word": "prompt too long: " + prompt[:33], "from the middle": "near " + prompt[13:60],
		"a line": "cannot: Make it shorter.", "wrapped": "  > Refactor the\n  > billing module\n  > of Initech.", "other spaces": "Refactor  the   billing\tmodule of Initech.", "unicode": `geht nicht: über-geheime Pläne f\u00fcr Zürich`,
		"query of a URL": "GET /v1/ask?q=" + url.QueryEscape(prompt) + " failed", "path of a URL": "GET /v1/" + url.PathEscape(prompt), "URL, cut": url.QueryEscape(prompt)[:40] + "...",
		"often": strings.Repeat("Refactor the billing module of Initech. no; ", 100),
	} {
		got := k.Text(text)
		for _, word := range []string{"illing", "customer", "people.csv", "shorter", "Pläne", "Refactor the"} {
			if strings.Contains(got, word) && name != "wrapped" {
				t.Errorf("%s: %q is left in %q", name, word, got)
			}
		}
	}
	for _, text := range []string{"the module of x was not found", "cannot read data/people.csv", "exit status 1", "Make: command not found"} {
		if got := k.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	short := &redact.Known{Prompt: func() []string { return []string{"hello"} }}
	if got := short.Text("unknown command: hello (othello)"); got != "unknown command: [redacted] (othello)" {
		t.Errorf("%q", got)
	}
	if got := k.Text("it said tuesday once"); strings.Contains(got, "tuesday") {
		t.Logf("a word of the prompt that may be a password: %q", got)
	}
}

// Of the arguments of a tool a message may name one; what quotes a longer piece, or a credential of them, may not.
func TestKnown_Quoted(t *testing.T) {
	k := &redact.Known{Quoted: func() []string {
		return []string{`{"path":"/srv/www/index.html","password":"wednesday","body":"Dear Ann, we are sorry to tell you that\nthe order is late."}`}
	}}
	for text, want := range map[string]string{
		"open /srv/www/index.html: permission denied":       "open /srv/www/index.html: permission denied",
		"login failed with wednesday":                       "login failed with [redacted]",
		"rejected: we are sorry to tell you that the order": "rejected: [redacted]",
	} {
		if got := k.Text(text); got != want {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// A prompt of a megabyte and an error that repeats itself take no time to speak of.
func FuzzKnown(f *testing.F) {
	f.Add("say it again and again", `error: "say it again and again"…`)
	f.Add("a\nb\\n\"c\" d", `a\nb\\n\"c\" d...`)
	f.Fuzz(func(t *testing.T, prompt, text string) {
		k := &redact.Known{Env: []string{"X_TOKEN=" + prompt}, Args: []string{prompt}, Prompt: func() []string { return []string{prompt} }}
		once := k.Text(text)
		if len(prompt) >= 12 && strings.TrimSpace(prompt) == prompt && !strings.Contains(redact.Marker, prompt) && strings.Contains(once, prompt) && strings.Count(prompt, "\n") == 0 && !strings.Contains(prompt, "/") && !strings.Contains(prompt, "\\") {
			if redact.Text("token="+prompt) != "token="+prompt { // else it stands for a value
				t.Errorf("%q is left: %q", prompt, once)
			}
		}
	})
}

// encodings are the ways in which programs print a text.
var encodings = map[string]func(string) string{
	"JSON":                func(s string) string { b, _ := json.Marshal(s); return string(b[1 : len(b)-1]) },
	"JSON in JSON":        func(s string) string { return strconv.Quote(strconv.Quote(s)) },
	"JSON with \\/":       func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	"\\u, all of it":      func(s string) string { return each(s, `\u%04x`) },
	"\\u in JSON in JSON": func(s string) string { return each(s, `\\u%04X`) },
	"\\u of signs":        func(s string) string { return signs(s, `\u%04x`) },
	"\\u{}":               func(s string) string { return each(s, `\u{%x}`) },
	"\\x":                 func(s string) string { return bytewise(s, `\x%02x`) },
	"octal":               func(s string) string { return bytewise(s, `\%03o`) },
	"%, all of it":        func(s string) string { return bytewise(s, "%%%02X") },
	"% in small letters":  func(s string) string { return bytewise(s, "%%%02x") },
	"% twice":             func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"query":               url.QueryEscape,
	"path":                url.PathEscape,
	"HTML":                html.EscapeString,
	"HTML by numbers":     func(s string) string { return each(s, "&#%d;") },
	"HTML by hex":         func(s string) string { return each(s, "&#x%X;") },
	"HTML in JSON":        func(s string) string { b, _ := json.Marshal(html.EscapeString(s)); return string(b[1 : len(b)-1]) },
	"base64":              func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64 for URLs":     func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"base64 with a user":  func(s string) string { return base64.StdEncoding.EncodeToString([]byte("ann:" + s)) },
	"base64 in a text":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte("x " + s + " and more")) },
	"coloured":            func(s string) string { return s[:4] + "\x1b[31m" + s[4:] },
	"broken by nothing":   func(s string) string { return s[:4] + "\u200b" + s[4:] },
}

func each(s, format string) string {
	var b strings.Builder
	for _, r := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, format, r)
	}
	return b.String()
}

func bytewise(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

func signs(s, format string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, format, r)
		}
	}
	return b.String()
}

// What is known is taken out however it is encoded: a variable, an argument, a prompt.
func TestKnown_Encodings(t *testing.T) {
	for name, encode := range encodings {
		for _, value := range []string{"p@ss w/Kq7vX2mPz9", `tues"day & <night>/ü?`, "plain-swordfish/x"} {
			encoded := encode(value)
			text := "it refused " + encoded + ", and so it ended"
			for way, k := range map[string]*redact.Known{
				"variable": {Env: []string{"DB_PASSWORD=" + value}},
				"argument": {Args: []string{"tool", "--password", value}},
				"joined":   {Args: []string{"tool", "--password=" + value}},
				"client":   {Args: []string{"redis-cli", "-a", value}},
				"prompt":   {Prompt: func() []string { return []string{value} }},
			} {
				got := k.Text(text)
				if strings.Contains(got, encoded) || strings.Contains(got, encoded[len(encoded)/2:]) || !strings.Contains(got, redact.Marker) || !strings.Contains(got, "so it ended") {
					t.Errorf("%s, %s: %q became %q", name, way, text, got)
				}
			}
		}
	}
}
