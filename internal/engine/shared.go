package engine

import "github.com/belay-run/belay/gate"

// SlotStore bounds how many hold a key at the same time. [gate.Slots] does so for all processes, [gate.Memory] for one.
type SlotStore interface {
	// Take takes one of n slots of a key in the holder's name; [gate.ErrFull] if there is none.
	Take(key string, n int, holder string) (*gate.Slot, error)
	// Holders are the names of those that hold a slot of the key now.
	Holders(key string) []string
}

// Shared is what callers of the same gates have in common: the states, news of their changes, and the slots. [gate.Files]
// shares them between processes, [gate.Memory] within one.
type Shared interface {
	gate.Store
	SlotStore
	// Watch returns a channel that gets a value when the state of a key may have changed, and a function that ends that.
	// The error says that a caller has to poll.
	Watch(key string) (changed <-chan struct{}, stop func(), err error)
}
