package retry

import (
	"context"
	"errors"
	"io"
	"net"
)

// Network is the classifier for who gives none. It advises a retry for a connection that was refused, reset,
// aborted, closed early or not reached, for a dial that timed out and for errors of DNS, and for nothing else.
//
// The end of a caller's context is never retried. Neither is an [*Error]: somebody further in has retried already,
// and retries in two layers multiply.
func Network(err error) Advice {
	return Advice{Retry: transient(err)}
}

func transient(err error) bool {
	if _, ok := errors.AsType[*Error](err); ok || errors.Is(err, context.Canceled) {
		return false
	}
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
