package retry

import (
	"context"
	"time"
)

// Attempts is how many failed attempts Next was told of.
func (s *Series) Attempts() int { return s.attempts }

// Waited is the sum of the waits so far, the last one in full.
func (s *Series) Waited() time.Duration { return s.waited }

func (s *Series) Bound(ctx context.Context) { s.bound(ctx) }
