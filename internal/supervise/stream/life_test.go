package stream

import (
	"testing"
	"time"
)

// The zero Moment is never, and no time that can be set is taken for it.
func TestMoment(t *testing.T) {
	t.Parallel()
	var m Moment
	if _, ok := m.Get(); ok {
		t.Error("never has come")
	}
	for _, at := range []time.Time{epoch.Add(-time.Hour), epoch, epoch.Add(time.Hour)} {
		m.Set(at)
		if got, ok := m.Get(); !ok || got.Before(at) || got.Sub(at) > time.Hour+time.Nanosecond {
			t.Errorf("set %v, got %v, %t", at, got, ok)
		}
	}
}
