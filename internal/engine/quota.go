package engine

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/clock"
	"github.com/belay-run/belay/internal/quota"
)

// quotaAge is how old news may be that says the same as what comes now: so long nothing is written for it.
const quotaAge = time.Minute

// tellQuota keeps what an agent tells of the limits of its account beside the account's gate, for all to see.
func (c *call) tellQuota(news []quota.Window) {
	key := c.gateKey()
	if len(news) == 0 || key == "" || c.shared == nil {
		return
	}
	now := clock.Now()
	tell := func(s gate.State) gate.State {
		s.Quota = s.Quota.Tell(now, c.id, news)
		return s
	}
	before, err := c.shared.Load(key)
	if err == nil && tell(before).Quota.Repeats(before.Quota, quotaAge) {
		return
	}
	if err := c.shared.Update(key, now, tell); err != nil && !errors.Is(err, gate.ErrDamaged) {
		c.emit(belaytype.GateTrouble{Key: key, Err: err})
	}
}
