package host

import (
	"strings"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/mcp"
)

// Handover is what belay hands over to belayd to serve a client with a server over a network. It names the variables that have
// credentials, and never has one: it is on a command line.
type Handover struct {
	mcp.Options
	Address
	Labels label.Labels
	NoGate bool
}

// Address is where a server over a network is.
type Address struct {
	URL string
	// Transport is "http", "sse", or empty to find out.
	Transport string
	// Headers are the names of headers and of the environment variables that have their values.
	Headers [][2]string
	// Bearer is the variable that has a token for the Authorization header; empty for none.
	Bearer string
}

// Authority is the host and port of the URL, and what stands before the @ in it, which should be nothing. ok is false for what
// cannot be the address of a server.
//
// net/url would do, but belay is not to link it for this: belayd reads the URL.
func (a Address) Authority() (host, user string, ok bool) {
	_, rest, ok := cutScheme(a.URL)
	if !ok || strings.ContainsFunc(a.URL, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return "", "", false
	}
	if end := strings.IndexAny(rest, "/?#\\"); end >= 0 {
		rest = rest[:end]
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		user, rest = rest[:at], rest[at+1:]
	}
	return rest, user, rest != "" && rest[0] != ':'
}

func cutScheme(url string) (scheme, rest string, ok bool) {
	scheme, rest, ok = strings.Cut(url, "://")
	return scheme, rest, ok && (strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"))
}
