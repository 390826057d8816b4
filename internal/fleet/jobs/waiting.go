package jobs

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/belay-run/belay/internal/fleet/store"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
)

// waitingEvery is how often the submitter checks for jobs that no machine can run, as a multiple of lookEvery.
const waitingEvery = 3

// sayWaiting says once which labels are needed that no machine has, and again if such a machine came and went.
func (f *follower) sayWaiting(ctx context.Context) {
	if f.looks++; f.looks%waitingEvery != 0 || len(f.expected) == 0 {
		return
	}
	list, err := f.client.Waiting(ctx)
	if !f.tell(err) {
		return
	}
	now := map[string]bool{}
	for _, needs := range list {
		key := strings.Join(needs, "\n")
		if now[key] = true; !f.waiting[key] {
			f.out.Encode(fleetpipe.Report{Say: message.FleetNoneHas(needs)})
		}
	}
	f.waiting = now
}

// Waiting lists the needs of ready jobs that no machine meets. A machine that is away for a moment still counts.
func (c *Client) Waiting(ctx context.Context) ([][]string, error) {
	return collect(ctx, c, pgx.RowTo[[]string], `select needs from (select distinct needs from belay.job where batch = $1 and state = 'ready') j
where not exists (select from belay.worker w where w.seen > now() - $2::interval and w.labels @> j.needs) order by needs limit 10`, c.Batch, 2*store.AwayAfter)
}
