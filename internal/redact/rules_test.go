package redact

import (
	"strings"
	"testing"
)

// Each rule finds what its example shows, and by itself: none is there that others make superfluous.
func TestRules(t *testing.T) {
	for _, r := range rules {
		text, secret := example(t, r.example)
		if got := Text(text); strings.Contains(got, secret) || !strings.Contains(got, Marker) {
			t.Errorf("%s: %q became %q", r.name, text, got)
		}
		var found []string
		for _, p := range byRule(text) {
			found = append(found, text[p.from:p.to])
		}
		if !strings.Contains(strings.Join(found, "\n"), secret) {
			t.Errorf("%s finds %q in %q", r.name, found, text)
		}
	}
	for _, l := range links {
		text, secret := example(t, l.example)
		if got := Text(text); strings.Contains(got, secret) || !strings.Contains(got, Marker) {
			t.Errorf("%s: %q became %q", l.name, text, got)
		}
	}
}

// example is a text without its signs, and the credential that was between them.
func example(t *testing.T, text string) (plain, secret string) {
	before, rest, _ := strings.Cut(text, "«")
	secret, after, ok := strings.Cut(rest, "»")
	if !ok {
		t.Fatalf("%q has no credential", text)
	}
	return before + secret + after, secret
}

// Every usage of every client is known, in a shell, with quotes, and in a list.
func TestClients(t *testing.T) {
	for _, c := range clients {
		for program := range strings.FieldsSeq(c.programs) {
			for usage := range strings.SplitSeq(c.usage, " | ") {
				words := append([]string{program, "--verbose"}, strings.Fields(usage)...)
				for i, word := range words {
					if n := len(word) - len("U:V"); n >= 0 && word[n] == 'U' && word[n+2] == 'V' {
						word = word[:n] + "ann" + word[n+1:]
					}
					if words[i] = word; word == "X" || word == "…" {
						words[i] = "other"
					}
				}
				for _, secret := range []string{"swordfish", "Kq7vX2mPz9LwT"} {
					line := func(sep string) string {
						text := strings.Join(words, sep)
						n := strings.LastIndexByte(text, 'V')
						return text[:n] + secret + text[n+1:]
					}
					for _, text := range []string{line(" "), "+ /usr/bin/" + line(" ") + " host", `exec: ["` + line(`","`) + `"]`, `"cmd": "` + line(" ") + `"`} {
						if got := Text(text); strings.Contains(got, secret) {
							t.Errorf("%q became %q", text, got)
						}
					}
				}
			}
		}
	}
}
