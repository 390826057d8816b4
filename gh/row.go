package gh

import (
	"context"
	"errors"
	"fmt"

	"github.com/belay-run/belay/breaker"
	"github.com/belay-run/belay/verdict"
)

// ErrTripped says that too many calls in a row have failed: a program that makes many should stop.
var ErrTripped = errors.New("circuit breaker tripped")

const defaultFailures = 10

func (c *Client) failures() int {
	if c.Failures == 0 {
		return defaultFailures
	}
	return max(c.Failures, 0)
}

// warnFrom is how many failures in a row are worth a warning: seven of ten.
func (c *Client) warnFrom() int { return (c.failures()*7 + 9) / 10 }

// allow asks whether a call may be made.
func (c *Client) allow() (breaker.Call, error) {
	if c.Failures < 0 {
		return breaker.Call{}, nil
	}
	call, err := c.breaker().Allow()
	if err != nil {
		return breaker.Call{}, fmt.Errorf("%w: %d consecutive API failures; no more calls are made for now (%w)", ErrTripped, c.failures(), err)
	}
	return call, nil
}

func (c *Client) breaker() *breaker.Breaker {
	c.once.Do(func() { c.row.Settings.Failures = c.failures() })
	return &c.row
}

// count takes note of how a call ended. GitHub not being there counts; that it did not like the call, or wants fewer of
// them, says nothing of its health. The error says that this one was too many.
func (c *Client) count(ctx context.Context, call *breaker.Call, v verdict.Verdict, err error) error {
	switch {
	case c.Failures < 0:
	case v.Class == verdict.OK:
		call.Success()
	case v.Class.Retryable() && !v.Class.Throttle() && ctx.Err() == nil:
		if err == nil {
			err = errors.New(v.Evidence)
		}
		call.Failure(err)
		state := c.breaker().State()
		if state.Phase == breaker.Open {
			return fmt.Errorf("%w: %d consecutive API failures, aborting", ErrTripped, c.failures())
		}
		if state.Failures >= c.warnFrom() {
			c.logger().WarnContext(ctx, "calls of gh keep failing", "consecutive", state.Failures, "of", c.failures())
		}
	}
	return nil
}
