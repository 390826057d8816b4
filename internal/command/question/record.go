package question

import (
	"runtime/debug"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/record"
)

// LazyGC lets the heap, of a few megabytes, grow before it is collected: a fifth of what a fold costs, and a tenth of a job of the fleet.
func LazyGC() { debug.SetGCPercent(400) }

// SayOf says what the record has to say.
func SayOf(r *request.Request, d *record.DB) {
	for _, text := range d.Said {
		r.Say(text)
	}
	d.Said = nil
}
