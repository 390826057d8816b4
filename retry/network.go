package retry

import (
	"context"
	"errors"
	"io"
	"net"
)

// Network is the classifier of a policy that names none. It advises a retry for a connection that was refused, reset, aborted,
// closed early or not reached, for a dial that timed out and for errors of DNS; and, where an error carries an HTTP status
// (see [Status]), for 408, 425, 429 and 5xx. Every other error is permanent. 429 is a throttle. Where an error has a method
// or field RetryAfter, a [time.Duration], that is the hint.
//
// The end of a caller's context is never retried. Neither is an [*Error]: an inner call has retried already, and
// retries in two layers multiply.
func Network(err error) Advice {
	a := Advice{After: retryAfter(err)}
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) {
		return a
	}
	if code, ok := Status(err); ok { // the service has answered, whatever the connection did then
		a.Retry = code == 408 || code == 425 || code == 429 || code >= 500
		a.Throttled = code == 429
		return a
	}
	a.Retry = transient(err)
	return a
}

// transient says whether err is a failure of the network that may pass.
func transient(err error) bool {
	// Before the look at DeadlineExceeded, because net gives a dial that ran into its own Dialer.Timeout that
	// identity too.
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" && op.Timeout() {
		return true
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	if _, ok := errors.AsType[*net.DNSError](err); ok {
		return true
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, errno := range transientErrnos {
		if errors.Is(err, errno) {
			return true
		}
	}
	return false
}
