package admission

import (
	"errors"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/engine/call"
	"github.com/belay-run/belay/retry"
	"github.com/belay-run/belay/verdict"
)

// InnerRetry counts a retry inside the CLI as one of ours; trouble is since when it only retries. The error says that there is no room for it.
func (p *Pace) InnerRetry(c *call.Call, r *agent.Retrying, trouble, now time.Time) error {
	advice := retry.Advice{Retry: !r.Hopeless, After: r.Wait, Throttled: r.Verdict.Class.Throttle()}
	why := &belaytype.Error{Verdict: r.Verdict, Message: r.Verdict.Evidence}
	if lasts := r.Verdict.Hint.Wait(now); r.Verdict.Class == verdict.UsageLimit && r.Wait < lasts/2 && lasts > p.Series.Left(now) {
		return p.Series.Charge(now, lasts, why) // which does not fit: the limit lasts, however often it asks meanwhile
	}
	err := p.Series.Inner(now, why, advice)
	told := c.Traits.Own.Set && p.MayRepeat()
	if errors.Is(err, retry.ErrExhausted) && !p.Policy.CountThrottles && (told || now.Sub(trouble) < p.Policy.TotalDelay()) {
		// Its retries are quicker than ours would be: it must not be given up sooner. One that was told how often to try again does so.
		err = p.Series.Charge(now, r.Wait, err)
	}
	if errors.Is(err, retry.ErrMaxWait) && c.OwnMaxWait() {
		p.Charge(r.Wait)
		err = nil
	}
	return err
}
