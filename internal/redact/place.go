package redact

import "strings"

// named takes the value of a name that begins at i, the user info of a URL, and what follows words such as bearer.
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
	if strings.HasPrefix(s[j:], "://") {
		return c.userInfo(j + len("://"))
	}
	if equalFold(s[j:min(len(s), j+len(encodedSlashes))], encodedSlashes) {
		if end := c.encodedUserInfo(j + len(encodedSlashes)); end > j {
			return end
		}
	}
	name := s[i:j]
	strong := strengthOf(name)
	if strong > plain && i > 0 && s[i-1] == '<' && j < len(s) && s[j] == '>' { // an element of XML
		end := j + 1 + max(0, strings.IndexByte(s[j+1:], '<'))
		if closed := strings.TrimLeft(s[end:min(len(s), end+8)], `<\`); end > j+1 && strings.HasPrefix(closed, "/") && !isPlaceholder(s[j+1:end]) {
			return c.take(j+1, end)
		}
	}
	if strong > plain {
		if end := c.valueOf(i, j, strong); end > i {
			return end
		}
	}
	if j < len(s) && s[j] == ':' {
		if end := c.login(i, j); end > i {
			return end
		}
	}
	if j < len(s) && (s[j] == ' ' || s[j] == '\t') {
		return c.spoken(i, j, strong)
	}
	return i
}

// valueOf takes the value of a name if it is a credential.
func (c *scanner) valueOf(i, j int, strong strength) int {
	v, ok := valueAfter(c.s, j)
	if !ok {
		return i
	}
	text := c.s[v.from:v.to]
	if isPlaceholder(text) {
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
		ok = len(text) >= 8 && isOpaque(text) && !isUUID(text)
	case prose, secret:
		ok = v.quoted || v.sep == '=' || isOpaque(text) || strong == secret && !c.goesOn(v.to) || !isOrdinary(text)
		if schemes := firstWord(text); v.sep == ':' && !v.quoted && (equalFold(schemes, "bearer") || equalFold(schemes, "basic")) {
			ok = false // spoken takes what follows
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

// userInfo takes the user info of a URL whose authority begins at i: all of it if there is a password, else if it looks like a
// token and not like a user. A password may itself hold an @ or a colon, but no slash. The host is passed over.
func (c *scanner) userInfo(i int) int {
	if end := vendorToken(c.s, i); end > i { // the address of a webhook
		return c.take(i, end)
	}
	s, at, j := c.s, -1, i
	for ; j < len(s); j++ {
		b := s[j]
		if b <= ' ' || b == '/' || b == '\\' || b == '?' || b == '#' || b == '<' || b == '>' || isQuote(b) || b == '[' && strings.HasPrefix(s[j:], Marker) {
			break
		}
		if b == '@' {
			at = j
		}
	}
	if at > i {
		user := s[i:at]
		if !isPlaceholder(user) && (strings.IndexByte(user, ':') >= 0 || len(user) >= 24 || len(user) >= 12 && isOpaque(user)) {
			return c.take(i, at)
		}
	}
	if at > i || i < len(s) && s[i] == ':' || run(s, i, dotted, 256) == 0 {
		return c.pass(i)
	}
	host := i + run(s, i, dotted, 256)
	if host < len(s) && s[host] == '/' {
		host++
	}
	return c.pass(host)
}

// encodedSlashes is what stands behind the scheme of a URL that is itself part of another URL.
const encodedSlashes = "%3A%2F%2F"

// encodedUserInfo takes the user info of such a URL, whose authority begins at i.
func (c *scanner) encodedUserInfo(i int) int {
	s, colon := c.s, false
	for j := i; j < len(s) && j < i+maxValue; j++ {
		switch b := s[j]; {
		case b <= ' ', b == '&', b == '/', isQuote(b), b == '[' && strings.HasPrefix(s[j:], Marker):
			return i
		case b != '%' || j+3 > len(s):
		case s[j+1:j+3] == "40":
			if colon && j > i {
				return c.take(i, j)
			}
			return i
		case equalFold(s[j+1:j+3], "2F"):
			return i
		case equalFold(s[j+1:j+3], "3A"):
			colon = true
		}
	}
	return i
}

// login takes the password of user:password@host, where it is not part of a URL. The name ends at j.
func (c *scanner) login(i, j int) int {
	s := c.s
	if i > 0 && i != c.floor && (s[i-1] == ':' || s[i-1] == '@' || s[i-1] == '/') || j+1 >= len(s) || s[j+1] == ':' || s[j+1] == '/' {
		return i
	}
	switch flat := strings.ToLower(s[i:j]); flat {
	case "mailto", "to", "from", "cc", "bcc", "email", "e-mail", "author", "by", "npm", "workspace", "file", "link", "patch", "sip", "xmpp", "acct", "git", "github", "pkg", "user", "contact":
		return i
	}
	at := -1
	for k := j + 1; k < len(s) && k < j+200; k++ {
		b := s[k]
		if b <= ' ' || b == '/' || b == '\\' || isQuote(b) || b == '[' && strings.HasPrefix(s[k:], Marker) {
			break
		}
		if b == '@' && k+1 < len(s) && isHost(s[k+1:]) {
			at = k
		}
	}
	if at < j+3 || isPlaceholder(s[j+1:at]) {
		return i
	}
	return c.take(j+1, at)
}

// isHost reports whether a text begins with the name or address of a host, and not with a version or a digest.
func isHost(s string) bool {
	n := run(s, 0, dotted, 100)
	host := strings.TrimRight(s[:n], ".")
	if host == "" || strings.HasPrefix(s[n:], ":") && (host == "sha256" || host == "sha512") {
		return false
	}
	if host == "localhost" || strings.HasPrefix(s[n:], ":") && n+1 < len(s) && isDigit(s[n+1]) {
		return true
	}
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 {
		return false
	}
	return isAlpha(host[len(host)-1]) && isAlpha(host[dot+1]) || strings.Count(host, ".") == 3 && isDigit(host[0])
}

// spoken takes what follows a name in a sentence or on a command line: password is X, --token X, bearer X.
func (c *scanner) spoken(i, j int, strong strength) int {
	s, name := c.s, c.s[i:j]
	k := skipBlanks(s, j)
	if k >= len(s) || s[k] == '-' {
		return i
	}
	option := i >= 2 && s[i-1] == '-' && (s[i-2] == '-' || isSpace(s[i-2]) || isQuote(s[i-2]))
	switch {
	case option && strong >= prose:
		quoted, from, to := read(s, k)
		if text := s[from:to]; from < to && !isPlaceholder(text) && (quoted || !isSentenceWord(text)) {
			return c.take(from, to)
		}
		return i
	case option && (name == "user" || name == "proxy-user"):
		return c.userOption(i, k)
	case equalFold(name, "bearer"), equalFold(name, "basic"), equalFold(name, "token"), equalFold(name, "apikey"):
		_, from, to := read(s, k)
		if text := s[from:to]; len(text) >= 12 && run(s, from, urlish, 12) == 12 && isOpaque(text) && !isUUID(text) && !isPlaceholder(text) {
			return c.take(from, to)
		}
	}
	if strong < prose {
		return i
	}
	said := false // "is", or the like
	for n := 0; !said && n < maxBetween && k < len(s) && isAlpha(s[k]); n++ {
		word := firstWord(s[k:min(len(s), k+maxName)])
		said = word == "is" || word == "was" || word == "to" || word == "value"
		if !said && n == 0 && word != "for" && word != "of" && word != "set" {
			return c.bare(i, j, k)
		}
		k = skipBlanks(s, k+len(word))
	}
	if !said && (k >= len(s) || !isQuote(s[k]) && s[k] != '\\') {
		return c.bare(i, j, k)
	}
	if k < len(s) && s[k] == ':' {
		k = skipBlanks(s, k+1)
	}
	quoted, from, to := read(s, k)
	if to <= from {
		return i
	}
	text := strings.TrimRight(s[from:to], ".,!?")
	if isPlaceholder(text) || strings.Contains(text, "://") || !isOpaque(text) && !(quoted && said) {
		return i
	}
	return c.take(from, from+len(text))
}

// bare takes what follows password without any sign between the two, as in .netrc and in FTP, if it is no word. The name is
// from i to j, and what follows it begins at k.
func (c *scanner) bare(i, j, k int) int {
	name := c.s[i:j]
	if !equalFold(name, "password") && !equalFold(name, "passwd") && name != "PASS" {
		return i
	}
	_, from, to := read(c.s, k)
	text := strings.TrimRight(c.s[from:max(from, to)], ".,!?:;)")
	if len(text) < 8 || !isOpaque(text) || isUUID(text) || isPlaceholder(text) || strings.Contains(text, "://") {
		return i
	}
	return c.take(from, from+len(text))
}

// maxBetween is how many words there may be between a name and its value: the password for ann is X.
const maxBetween = 4

// dash takes what follows an option of one letter that often has a password: -u user:pass and -pPASS. It begins at i. A private
// key begins with dashes too.
func (c *scanner) dash(i int) int {
	s := c.s
	if end := pemEnd(s, i); end > i {
		return c.take(i, end)
	}
	if i+2 >= len(s) || i > c.floor && !isSpace(s[i-1]) && !isQuote(s[i-1]) && s[i-1] != '[' {
		return i
	}
	switch s[i+1] {
	case 'u', 'U':
		if isSpace(s[i+2]) {
			return c.userOption(i, skipBlanks(s, i+2))
		}
	case 'p':
		apart := isSpace(s[i+2]) && passwordBefore(s, i)
		k := i + 2
		if apart {
			k = skipBlanks(s, k)
		}
		quoted, from, to := read(s, k)
		text := s[from:max(from, to)]
		if to <= from || isPlaceholder(text) || isSpace(s[i+2]) && !apart || apart && (allDigits(text) || text[0] == '-') {
			return i
		}
		if apart {
			return c.take(from, to)
		}
		if quoted || len(text) >= 5 && isOpaque(text) && !strings.Contains(text, "=") || mysqlBefore(s, i) {
			return c.take(from, to)
		}
	}
	return i
}

// mysqlBefore reports whether the command before i is one that takes a password behind -p.
func mysqlBefore(s string, i int) bool {
	before := s[max(0, i-60):i]
	for _, name := range [...]string{"mysql", "mariadb", "sshpass", "7z"} {
		if strings.Contains(before, name) {
			return true
		}
	}
	return false
}

// passwordBefore reports whether the command before i is one whose option -p has a password apart from it, and no port.
func passwordBefore(s string, i int) bool {
	before := s[max(0, i-60):i]
	for _, name := range [...]string{"sshpass ", "docker login ", "podman login ", "registry login "} {
		if strings.Contains(before, name) {
			return true
		}
	}
	return false
}

// userOption takes the password of user:password behind an option; what is behind it begins at k.
func (c *scanner) userOption(i, k int) int {
	_, from, to := read(c.s, k)
	text := c.s[from:max(from, to)]
	colon := strings.IndexByte(text, ':')
	if colon < 0 || colon+1 == len(text) || strings.HasPrefix(text[colon:], "://") || isPlaceholder(text[colon+1:]) {
		return i
	}
	if allDigits(text[:colon]) && allDigits(text[colon+1:]) { // docker run -u 1000:1000
		return i
	}
	return c.take(from+colon+1, to)
}
