package gh

import (
	"strings"

	"github.com/belay-run/belay/verdict"
)

// tally counts what became of the requests that change something.
type tally struct {
	done    int // they were answered well
	refused int // or not, so that nothing has happened
	open    int // nobody knows
}

func (t *tally) add(r *request) {
	if !r.changes {
		return
	}
	class, _ := r.class()
	switch {
	case r.broke != "" && neverSent(r.broke):
	case r.broke != "" || r.cut != "" && r.status < 400 || r.status == 0:
		t.open++
	case r.status < 300 && (!r.errors || r.data):
		t.done++ // a mutation that also reports errors has happened
	case class == verdict.ServerError || class == verdict.Overloaded:
		t.open++ // the answer is that of a proxy, or nobody knows how far it got
	default:
		t.refused++
	}
}

// sent says whether there may have been an effect.
func (t *tally) sent() verdict.Sent {
	switch {
	case t.done > 0:
		return verdict.SentYes
	case t.open > 0:
		return verdict.SentMaybe
	}
	return verdict.SentNo
}

// unsent are Go's words for a request that has not left: there was no connection to send it by.
var unsent = []string{"dial tcp", "dial udp", "no such host", "proxyconnect tcp", "tls: failed to verify certificate", "x509: ", "tls: handshake failure",
	"TLS handshake timeout", "tls: first record does not look like a TLS handshake", "unsupported protocol scheme", "invalid header field", "error connecting to "}

func neverSent(broke string) bool {
	for _, words := range unsent {
		if strings.Contains(broke, words) {
			return true
		}
	}
	return false
}
