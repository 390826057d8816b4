package retry

import (
	"context"
	"time"
)

// Sleep waits for d, or until ctx ends; then it returns [context.Cause] of ctx. If both come together, the end of
// ctx is what counts.
func Sleep(ctx context.Context, d time.Duration) error {
	if d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
		case <-t.C:
		}
	}
	return context.Cause(ctx)
}
