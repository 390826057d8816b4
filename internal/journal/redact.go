package journal

import (
	"regexp"
	"strings"
	"sync"
)

// redacted stands where a credential was.
const redacted = "[redacted]"

// secrets are patterns of text that must not be stored. The first group, where there is one, is kept.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, s := range []string{
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`,
		// Headers, as they are printed, quoted in JSON or given to curl: all up to the end of the line or of the quote.
		`(?i)((?:authorization|x-api-key|x-goog-api-key|cookie|private-token)["']?\s*[:=]\s*["'])[^"'\r\n]+`,
		`(?i)((?:authorization|x-api-key|x-goog-api-key|cookie|private-token)\s*[:=]\s*)[^"'\r\n]+`,
		`(?i)(\b(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{12,}`,
		// A password in a URL may itself hold an @ or a colon; it never holds a slash or a space.
		`(?i)([a-z][a-z0-9+.-]*://)[^/\s@"'<>]*:[^/\s"'<>]*@`,
		`(?i)([?&](?:[a-z0-9_.-]*(?:key|token|secret|signature|password)|sig|code|auth)=)[^&\s"'#]+`,
		`\b(?:sk|rk|pk)[-_][A-Za-z0-9_-]{12,}`,                                                                    // Anthropic, OpenAI, OpenRouter, Stripe
		`\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,}|v1\.[0-9a-f]{40})`,                          // GitHub
		`\bAIza[A-Za-z0-9_-]{30,}|\bya29\.[A-Za-z0-9_-]{10,}|\b1//[A-Za-z0-9_-]{20,}|\bGOCSPX-[A-Za-z0-9_-]{10,}`, // Google
		`\b(?:AKIA|ASIA|AROA|AIDA|ABIA|ACCA)[A-Z0-9]{16}\b`,                                                       // AWS, the id of a key
		`\b(?:xox[a-z]|xapp)-[A-Za-z0-9-]{10,}`,                                                                   // Slack
		`\b(?:glpat|gldt|glrt)-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bgsk_[A-Za-z0-9]{20,}|\bxai-[A-Za-z0-9]{20,}|\bpypi-[A-Za-z0-9_-]{20,}`,
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, // a JSON Web Token
		// NAME=value, "name": "value", --name value. AWS_SECRET_ACCESS_KEY is one of them; input_tokens is not.
		`(?i)(\b[a-z0-9_-]*(?:(?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passphrase|credential)[a-z0-9_-]*|token)\\?["']?\s*[:=]\s*\\?["'])[^"'\\\r\n]+`,
		`(?i)(\b[a-z0-9_-]*(?:(?:api[_-]?key|access[_-]?key|secret|passw(?:or)?d|passphrase|credential)s?|token)["']?\s*[:=]\s*)[^\s"',;&]{4,}`,
		`(?i)(--[a-z0-9-]*(?:api-?key|access-?key|token|secret|passw(?:or)?d)(?:\s+|=))[^\s"']{4,}`,
	} {
		list = append(list, regexp.MustCompile(s))
	}
	return list
})

// Redact replaces what looks like a credential. It is the one place for that: all text that is stored goes through it.
func Redact(s string) string {
	for _, re := range secrets() {
		s = re.ReplaceAllString(s, "${1}"+redacted)
	}
	return s
}

// namesSecret reports whether a field of that name holds a credential, whatever it looks like.
func namesSecret(name string) bool {
	name = strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
	for _, word := range []string{"apikey", "accesskey", "secret", "password", "passwd", "passphrase", "authorization", "cookie", "credential"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "token")
}
