package hook

import (
	"sync"
	"time"
)

// announceAfter is how long a call runs before other processes are told of it. Most are over by then, and telling them
// would take longer than all else that is done for a call. What a killed one leaves before that is found by its id.
const announceAfter = 100 * time.Millisecond

// announcement tells other processes of a call that is under way.
type announcement struct {
	timer *time.Timer

	mu       sync.Mutex
	over     bool
	withdraw func()
}

// announce begins to tell of the call: after a moment, or at once if its id does not name us.
func (h *Hook) announce() *announcement {
	a := &announcement{}
	if h.Announce == nil {
		return a
	}
	begun := time.Now()
	tell := func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if !a.over {
			a.withdraw = h.Announce(begun)
		}
	}
	if h.KeepBackground {
		tell()
		return a
	}
	a.timer = time.AfterFunc(announceAfter, tell)
	return a
}

// end takes back what was told.
func (a *announcement) end() {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.over = true
	if a.withdraw != nil {
		a.withdraw()
	}
}
