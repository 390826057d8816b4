package stream

import (
	"sync/atomic"
	"time"
)

// epoch makes a Moment fit into one atomic word and keeps it monotonic.
var epoch = time.Now()

// Moment is a point in time that other goroutines may set. Zero means never.
type Moment struct{ ns atomic.Int64 }

// Set makes it that time.
func (m *Moment) Set(t time.Time) { m.ns.Store(max(1, int64(t.Sub(epoch)))) }

// Clear makes it never.
func (m *Moment) Clear() { m.ns.Store(0) }

// Get returns the time; ok is false if it is never.
func (m *Moment) Get() (t time.Time, ok bool) {
	ns := m.ns.Load()
	return epoch.Add(time.Duration(ns)), ns != 0
}

// Life is what the streams of a command tell of it. The zero value has seen none.
type Life struct {
	Last    Moment       // the last sign of life
	writing atomic.Int32 // pumps that wait for their writer
}

// Beat is a sign of life.
func (l *Life) Beat() { l.Last.Set(time.Now()) }

// HeldUp reports whether a writer has not taken yet what the command has written: it is not silent.
func (l *Life) HeldUp() bool { return l.writing.Load() > 0 }
