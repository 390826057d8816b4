package redact

import (
	"slices"
	"strings"
)

// strength says how much a name tells of its value.
type strength uint8

const (
	plain  strength = iota // nothing
	opaque                 // it is one unless it is a word or a UUID
	prose                  // it is one; but the name is also a word of ordinary messages
	secret                 // it is one
	header                 // it is one, up to the end of the line
)

// NamesSecret reports whether a field, a variable or an option of that name holds a credential, whatever it looks like.
func NamesSecret(name string) bool { return strengthOf(name) >= prose }

// The parts of names that hold credentials. They are compared without case, dots, dashes and underscores.
var (
	secretParts = []string{"apikey", "accesskey", "secret", "password", "passwd", "passphrase", "passcode", "credential", "privatekey", "accountkey",
		"signingkey", "encryptionkey", "masterkey", "authkey", "sharedkey", "storagekey", "subscriptionkey", "licensekey", "servicekey", "connectionstring", "connstr",
		"webhookurl", "authorization", "cookie", "authtoken", "accesstoken", "refreshtoken", "bearertoken", "idtoken", "sessiontoken"}
	secretEnds = []string{"token", "pwd", "pass", "psk", "passwort", "kennwort", "motdepasse", "contrasena", "senha", "wachtwoord", "masterauth", "jwt"}
	opaqueEnds = []string{"sessid", "session", "signature", "bearer", "csrf", "xsrf", "community", "accesscode", "appkey", "hmackey", "cryptkey", "consumerkey", "deploykey"}
	// What is about a credential and is none: its file, its kind, its length.
	aboutEnds = []string{"name", "names", "type", "types", "count", "limit", "length", "len", "size", "file", "files", "path", "paths", "dir", "url", "uri", "endpoint", "ref",
		"arn", "source", "expires", "expiresin", "expiresat", "expiry", "expiration", "ttl", "version", "policy", "status", "required", "enabled", "disabled", "manager", "scope",
		"scopes", "provider", "helper", "jar", "jars", "index", "kind", "format", "error", "errors", "prefix", "usage", "budget", "algorithm", "rotation", "store", "age", "hint", "prompt",
		"field", "header", "param", "env", "var", "id", "ids", "method", "mode", "issuer", "class", "handler", "request", "response", "reset", "mismatch", "invalid", "expired",
		"missing", "failed", "failure", "exception", "not", "less", "check", "validation", "service", "group", "set", "list", "sock", "socket", "askpass", "bypass", "compass", "xauthority"}
)

// maxName is the longest name that is looked at.
const maxName = 80

// strengthOf says what a name tells of its value.
func strengthOf(name string) strength {
	if isSourceFile(name) {
		return plain
	}
	if len(name) > maxName {
		name = name[len(name)-maxName:]
	}
	var buf [maxName]byte
	flat := buf[:0]
	for i := range len(name) {
		switch b := name[i]; {
		case isUpper(b):
			flat = append(flat, b|0x20)
		case b != '_' && b != '-' && b != '.':
			flat = append(flat, b)
		}
	}
	if !hasStem(flat) { // as of nearly all words
		return plain
	}
	n := string(flat)
	switch n {
	case "authorization", "proxyauthorization", "cookie", "setcookie":
		return header
	case "token", "secret", "password", "passphrase", "pass", "passcode", "credential", "credentials", "apikey", "pat", "privatekey", "accesstoken", "accesskey", "authtoken", "secrets":
		return prose
	case "sig", "sid", "otp", "pin", "sas", "pw", "jsessionid", "connectsid", "auth", "community":
		return opaque
	case "xauthority", "sshauthsock", "gitaskpass", "sshaskpass", "compass", "bypass", "trespass", "wwwauthenticate":
		return plain
	}
	if len(n) < 2 {
		return plain
	}
	switch has := func(part string) bool { return strings.Contains(n, part) }; {
	case slices.ContainsFunc(secretParts, has) && endsWithAny(n, aboutEnds):
		return plain
	case slices.ContainsFunc(secretParts, has), endsWithAny(n, secretEnds):
		return secret
	case endsWithAny(n, opaqueEnds):
		return opaque
	}
	return plain
}

// hasStem reports whether a name has the beginning of one of the words in it that all names of credentials have.
func hasStem(name []byte) bool {
	if string(name) == "pw" {
		return true
	}
	for i := 0; i+3 <= len(name); i++ {
		switch string(name[i : i+3]) {
		case "key", "sec", "pas", "cre", "con", "web", "aut", "coo", "tok", "pwd", "jwt", "ses", "sig", "bea", "csr", "xsr", "sid", "otp", "pin", "sas", "mot", "pat", "psk", "ken", "sen", "wac", "com":
			return true
		}
	}
	return false
}

// isSourceFile reports whether a name is one of a file that compilers and interpreters complain of: secret.go:12 is a place.
func isSourceFile(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	if dot < 1 || len(name)-dot > 6 {
		return false
	}
	switch name[dot+1:] {
	case "go", "ts", "tsx", "js", "jsx", "mjs", "cjs", "py", "rs", "java", "kt", "c", "h", "cc", "cpp", "hpp", "cs", "rb", "php", "swift", "json", "yaml", "yml", "toml", "html", "css", "md", "txt", "log", "sh", "sql", "xml", "lock":
		return true
	}
	return false
}
