package supervise

import "github.com/belay-run/belay/internal/supervise/proctable"

// StopRequests returns a channel that gets a value whenever another process asks this one to stop.
func StopRequests() <-chan struct{} { return proctable.StopRequests() }
