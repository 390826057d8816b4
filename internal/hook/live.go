package hook

import (
	"sync"
	"time"
)

// announceAfter is how long a call runs before other processes are told of it. Most are over by then, and telling them
// would take longer than all else that is done for a call. What a killed one leaves before that is found by its id.
const announceAfter = 100 * time.Millisecond

// announce tells other processes of the call: after a moment, or at once if its id does not name us. The function that it returns takes
// that back.
func (h *Hook) announce() (end func()) {
	var mu sync.Mutex
	var withdraw func()
	over, begun := h.Announce == nil, time.Now()
	tell := func() {
		mu.Lock()
		defer mu.Unlock()
		if !over && withdraw == nil {
			withdraw = h.Announce(begun)
		}
	}
	if h.KeepBackground {
		tell()
	}
	timer := time.AfterFunc(announceAfter, tell)
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; withdraw != nil {
			withdraw()
		}
	}
}
