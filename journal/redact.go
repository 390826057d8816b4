package journal

import (
	"regexp"
	"sync"
)

// secrets are shapes that must not come to rest. The first group, where there is one, is kept.
var secrets = sync.OnceValue(func() []*regexp.Regexp {
	var list []*regexp.Regexp
	for _, s := range []string{
		`(?i)((?:authorization|proxy-authorization|x-api-key|x-goog-api-key|cookie|set-cookie)["']?\s*[:=]\s*)[^\r\n]+`,
		`(?i)(\b(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{12,}`,
		`([a-z][a-z0-9+.-]*://)[^/\s:@]*:[^/\s@]+@`,
		`\bsk-[A-Za-z0-9_-]{12,}`,
		`\b(?:gh[pousr]_[A-Za-z0-9]{16,}|github_pat_[A-Za-z0-9_]{20,})`,
		`\bAIza[A-Za-z0-9_-]{30,}`,
		`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
		`\bxox[abprs]-[A-Za-z0-9-]{10,}`,
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`,
		`(?i)(\b[a-z0-9_-]*(?:api[_-]?key|token|secret|passw(?:or)?d)["']?\s*[:=]\s*["']?)[^\s"',;&]{4,}`,
		`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`,
	} {
		list = append(list, regexp.MustCompile(s))
	}
	return list
})

// Redact replaces what looks like a credential.
func Redact(s string) string {
	for _, re := range secrets() {
		s = re.ReplaceAllString(s, "${1}[redacted]")
	}
	return s
}
