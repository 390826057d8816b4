package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

func TestNetwork(t *testing.T) {
	op := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
	for _, c := range []struct {
		name string
		err  error
		want bool
	}{
		{"Refused", op("dial", os.NewSyscallError("connect", syscall.ECONNREFUSED)), true},
		{"Reset", op("read", os.NewSyscallError("read", syscall.ECONNRESET)), true},
		{"Aborted", syscall.ECONNABORTED, true},
		{"BrokenPipe", op("write", syscall.EPIPE), true},
		{"TimedOutByKernel", op("read", syscall.ETIMEDOUT), true},
		{"HostUnreachable", syscall.EHOSTUNREACH, true},
		{"NetUnreachable", syscall.ENETUNREACH, true},
		{"EOF", fmt.Errorf("read header: %w", io.EOF), true},
		{"UnexpectedEOF", io.ErrUnexpectedEOF, true},
		{"DNS", op("dial", &net.DNSError{Err: "no such host", IsNotFound: true}), true},
		{"DNSTimeout", &net.DNSError{Err: "i/o timeout", IsTimeout: true}, true},
		{"DialTimeout", op("dial", os.ErrDeadlineExceeded), true},

		{"ReadTimeout", op("read", os.ErrDeadlineExceeded), false},
		{"Cancelled", context.Canceled, false},
		{"Deadline", fmt.Errorf("call: %w", context.DeadlineExceeded), false},
		{"DialCancelled", op("dial", context.Canceled), false},
		{"DNSCancelled", &net.DNSError{Err: "operation was canceled", UnwrapErr: context.Canceled}, false},
		{"DNSDeadline", &net.DNSError{Err: "i/o timeout", IsTimeout: true, UnwrapErr: context.DeadlineExceeded}, false},
		{"ResetByOurOwnCancel", errors.Join(context.Canceled, syscall.ECONNRESET), false},
		{"OtherErrno", syscall.ENOENT, false},
		{"Unknown", errors.New("connection refused"), false},
		{"RetriedFurtherIn", &retry.Error{Err: syscall.ECONNRESET, Cause: retry.ErrExhausted}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			equal(t, "advice", retry.Network(c.err), retry.Advice{Retry: c.want})
		})
	}
}

// What the table makes up, package net really says.
func TestNetwork_RealErrors(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	addr := l.Addr().String()
	_ = l.Close()

	_, refused := net.Dial("tcp", addr)
	equal(t, fmt.Sprint(refused), retry.Network(refused).Retry, true)

	_, timeout := (&net.Dialer{Timeout: time.Nanosecond}).Dial("tcp", addr)
	equal(t, fmt.Sprint(timeout), retry.Network(timeout).Retry, true)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, cancelled := new(net.Dialer).DialContext(ctx, "tcp", addr)
	equal(t, fmt.Sprint(cancelled), retry.Network(cancelled).Retry, false)
}

func TestDo_ClassifiesByNetworkIfNotTold(t *testing.T) {
	s := play(syscall.ECONNRESET, errLost)
	_, err := retry.Do(t.Context(), retry.Policy{Delay: func(int, error) time.Duration { return 0 }}, s.fn)
	equal(t, "attempts", stopped(t, err, retry.ErrPermanent).Attempts, 2)
}
