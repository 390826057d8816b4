package redact

import "strings"

// named takes the value of a name that begins at i.
func (c *scanner) named(i int) int {
	if i < c.name {
		return i
	}
	s := c.s
	j := i
	for j < len(s) && dotted.has(s[j]) {
		j++
	}
	for j > i && (s[j-1] == '.' || s[j-1] == '-') { // the end of a sentence
		j--
	}
	c.name = j
	if rest := s[j:]; strings.HasPrefix(rest, "://") { // the host is no word
		return c.pass(j + len("://") + run(s, j+len("://"), dotted, 256))
	}
	strong := strengthOf(s[i:j])
	if strong == plain && isKey(s, i, j) {
		strong = opaque
	}
	if strong == plain {
		return i
	}
	if end := c.valueOf(i, j, strong); end > i {
		return end
	}
	return c.linked(i, j, strong)
}

// isKey reports whether a word is the key in words such as API key, wrong key: those say what it is the key to.
func isKey(s string, i, j int) bool {
	if !equalFold(s[i:j], "key") && !equalFold(s[i:j], "keys") {
		return false
	}
	before := strings.TrimRight(s[max(0, i-20):i], " -")
	word := before[strings.LastIndexAny(before, " \t\n\"'(:.")+1:]
	switch strings.ToLower(word) {
	case "api", "access", "secret", "private", "wrong", "invalid", "bad", "incorrect", "unknown", "expired", "revoked", "license", "licence", "encryption", "signing", "master", "account", "auth", "shared",
		"app", "application", "service", "deploy", "product", "your", "malformed", "rejected", "provided", "given", "supplied", "this", "unauthorized", "unauthorised", "disabled", "leaked", "host", "client", "server":
		return true
	}
	return false
}

// valueOf takes the value of a name if it is a credential.
func (c *scanner) valueOf(i, j int, strong strength) int {
	v, ok := valueAfter(c.s, j)
	if !ok {
		return i
	}
	text := c.s[v.from:v.to]
	if isPlaceholder(text) || text[0] == ':' || i > 0 && c.s[i-1] == '/' && isMeasure(text) { // Token::new, and the image library/secret:1.2
		return i
	}
	if strong == header {
		if !v.quoted {
			v.to = lineEnd(c.s, v.from, i)
		}
		return c.take(v.from, max(v.from, v.to))
	}
	switch strong {
	case opaque:
		ok = isDrawn(text)
	case prose, secret:
		ok = v.quoted || v.sep == '=' || isOpaque(text) || strong == secret && !c.goesOn(v.to) || !isOrdinary(text)
		if scheme := firstWord(text); v.sep == ':' && !v.quoted && (equalFold(scheme, "bearer") || equalFold(scheme, "basic")) {
			ok = false // a rule takes what follows
		}
	}
	if !ok {
		return i
	}
	return c.take(v.from, v.to)
}

// goesOn reports whether a sentence goes on behind i: then what stands before it is a word of it.
func (c *scanner) goesOn(i int) bool {
	i = skipBlanks(c.s, i)
	return i < len(c.s) && (isAlpha(c.s[i]) || c.s[i] == '(' || c.s[i] == '"')
}
