package clientfile

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
)

// addressTrouble says why a URL cannot stand on a command line, which all users of the machine can read; empty if it can.
func addressTrouble(address string) string {
	if strings.ContainsAny(address, "${") {
		return "has a variable in its URL, which could put a secret on a command line"
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "has a URL that is not http or https"
	}
	if u.User != nil || u.Fragment != "" || redact.Text(address) != address || isRandom(u.Path) {
		return message.EntryURLSecret()
	}
	for name, values := range u.Query() {
		if isCredential(name) || isRandom(strings.Join(values, "/")) {
			return message.EntryURLSecret()
		}
	}
	return ""
}

// isCredential reports whether the value of that name says who calls.
func isCredential(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{"auth", "token", "key", "secret", "cookie", "pass", "credential", "sig", "session", "jwt"}, func(part string) bool {
		return strings.Contains(name, part)
	})
}

// isRandom reports whether a part of a path could be a secret: some services give each user a URL. A UUID is one too.
func isRandom(path string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(path, "-", ""), "/") {
		if len(part) >= 16 && strings.Trim(part, "0123456789abcdefABCDEF") == "" {
			return true
		}
	}
	for _, part := range strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("/-_.~", r) }) {
		digits := 0
		for _, r := range part {
			if '0' <= r && r <= '9' {
				digits++
			}
		}
		if letters := len(part) - digits; len(part) >= 12 && digits >= 2 && letters >= 2 {
			return true
		}
	}
	return false
}

// isNear reports whether a URL leads to this machine or a network of its own, where no server asks for a login by browser.
func isNear(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := u.Hostname()
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast()
	}
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}
