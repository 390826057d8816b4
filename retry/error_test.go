package retry_test

import (
	"errors"
	"testing"
	"time"

	"github.com/belay-run/belay/retry"
)

func TestError_Text(t *testing.T) {
	for _, c := range []struct {
		err  retry.Error
		want string
	}{
		{retry.Error{Cause: retry.ErrPermanent, Err: errKey, Attempts: 1}, "permanent failure after 1 attempt: invalid API key"},
		{retry.Error{Cause: retry.ErrExhausted, Err: errLost, Attempts: 4, Waited: 14*time.Second + 123456789}, "retries used up after 4 attempts and 14.123s of waiting: connection lost"},
		{retry.Error{Cause: retry.ErrMaxWait, Err: errLimit, Attempts: 1, NotBefore: noon.In(time.FixedZone("", 3600))}, "max wait would be exceeded after 1 attempt, not before 2026-11-15T12:00:00Z: 429 too many requests"},
		{retry.Error{Cause: retry.ErrTotalTimeout, Err: errLost, Attempts: 2, Waited: time.Second, NotBefore: noon}, "no time left of the total timeout after 2 attempts and 1s of waiting, not before 2026-11-15T12:00:00Z: connection lost"},
		{retry.Error{Cause: retry.ErrMaxWait, NotBefore: noon}, "max wait would be exceeded before the first attempt, not before 2026-11-15T12:00:00Z"},
	} {
		equal(t, "text", c.err.Error(), c.want)
	}
}

func TestError_Unwrap(t *testing.T) {
	err := error(&retry.Error{Cause: retry.ErrExhausted, Err: &retry.Error{Cause: retry.ErrTimeout, Err: errLost}})
	for _, target := range []error{retry.ErrExhausted, retry.ErrTimeout, errLost} {
		if !errors.Is(err, target) {
			t.Errorf("%v is not found", target)
		}
	}
	if errors.Is(err, retry.ErrMaxWait) || errors.Is(&retry.Error{Cause: retry.ErrMaxWait}, errLost) {
		t.Error("something is found that is not there")
	}
}
