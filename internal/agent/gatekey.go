package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// GateKey is the key of the gate for the limits that a call falls under: those of an account with a service on a host. The
// account is a credential, or the place of a login; the key holds only the first 32 bits of its hash.
//
// Gates of this name are on the disks of users. A key that changes loses the hold that is on record under the old one.
func GateKey(service, host, account string) string {
	sum := sha256.Sum256([]byte(account))
	return service + ":" + host + ":" + hex.EncodeToString(sum[:4])
}

// Host is the host of an address, for a [GateKey]: in lower case, with its port unless that is the usual one of the scheme,
// and without anything else, above all without user and password. It is empty if there is none. The scheme may be missing.
func Host(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok || strings.ContainsAny(scheme, "/?#") {
		scheme, rest = "", address
	}
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	host := KeyPart(rest[strings.LastIndexByte(rest, '@')+1:])
	switch strings.ToLower(scheme) {
	case "https":
		return strings.TrimSuffix(host, ":443")
	case "http":
		return strings.TrimSuffix(host, ":80")
	}
	return host
}

// KeyPart is the text in lower case, without what cannot be part of a key: it has letters, digits and .-_:[] of ASCII.
func KeyPart(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', strings.ContainsRune(".-_:[]", r):
			return r
		}
		return -1
	}, text)
}
