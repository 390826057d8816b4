package supervise

import (
	"testing"
	"time"

	"github.com/belay-run/belay/internal/supervise/stream"
)

// The three clocks of a process, in seconds since its start. -1 is never.
func TestLimits_Due(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		timeout, stall, linger int
		life, delivered, now   int
		reason                 Reason
		wait                   int
	}{
		"None":                   {0, 0, 0, -1, -1, 1000, Exited, 0},
		"NoneDelivered":          {0, 0, 0, -1, 5, 1000, Exited, 0},
		"BeforeDeadline":         {10, 0, 0, -1, -1, 4, Exited, 6},
		"AtDeadline":             {10, 0, 0, -1, -1, 10, Deadline, 0},
		"AfterDeadline":          {10, 0, 0, -1, -1, 11, Deadline, 0},
		"LifeIsNoExcuse":         {10, 0, 0, 10, -1, 10, Deadline, 0},
		"SilentFromTheStart":     {0, 10, 0, -1, -1, 10, Stalled, 0},
		"BeforeStall":            {0, 10, 0, 3, -1, 12, Exited, 1},
		"AtStall":                {0, 10, 0, 3, -1, 13, Stalled, 0},
		"NotDelivered":           {0, 0, 5, 3, -1, 100, Exited, 0},
		"Lingers":                {0, 0, 5, 3, 8, 12, Exited, 1},
		"LingersTooLong":         {0, 0, 5, 3, 8, 13, Lingered, 0},
		"NearestIsStall":         {100, 10, 0, 3, -1, 4, Exited, 9},
		"NearestIsDeadline":      {12, 10, 0, 3, -1, 4, Exited, 8},
		"NearestIsLinger":        {100, 50, 5, 3, 4, 5, Exited, 4},
		"DeliveredBeatsDeadline": {10, 5, 5, 3, 4, 20, Lingered, 0},
		"StallBeatsDeadline":     {10, 5, 0, 3, -1, 20, Stalled, 0},
		"DeadlineOfTwo":          {10, 50, 0, 3, -1, 20, Deadline, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now().Add(time.Hour)
			l := limits{timeout: seconds(tt.timeout), stall: seconds(tt.stall), linger: seconds(tt.linger),
				start: start, life: new(stream.Moment), delivered: new(stream.Moment)}
			if tt.life >= 0 {
				l.life.Set(start.Add(seconds(tt.life)))
			}
			if tt.delivered >= 0 {
				l.delivered.Set(start.Add(seconds(tt.delivered)))
			}
			reason, wait := l.due(start.Add(seconds(tt.now)))
			if reason != tt.reason || wait != seconds(tt.wait) {
				t.Errorf("%v, wait %v; want %v, %v s", reason, wait, tt.reason, tt.wait)
			}
		})
	}
}

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// A suspended process has no time: what was left before is left afterwards.
func TestLimits_SkipSuspension(t *testing.T) {
	t.Parallel()
	start := time.Now().Add(time.Hour)
	l := limits{timeout: seconds(10), linger: seconds(3), start: start, life: new(stream.Moment), delivered: new(stream.Moment)}
	l.skip(seconds(100))
	if reason, wait := l.due(start.Add(seconds(104))); reason != Exited || wait != seconds(6) {
		t.Errorf("%v, wait %v; want 6 s", reason, wait)
	}
	l.delivered.Set(start.Add(seconds(104)))
	l.skip(seconds(50))
	if reason, wait := l.due(start.Add(seconds(156))); reason != Exited || wait != seconds(1) {
		t.Errorf("%v, wait %v; want 1 s", reason, wait)
	}
	if reason, _ := l.due(start.Add(seconds(157))); reason != Lingered {
		t.Errorf("%v, want %v", reason, Lingered)
	}
}
