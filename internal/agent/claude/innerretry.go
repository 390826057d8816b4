package claude

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// retrying is what an event says that announces a retry inside claude.
func (f *follower) retrying(e event) *agent.Retrying {
	r := &agent.Retrying{Wait: time.Duration(min(max(e.RetryDelay, 0), 1e9) * float64(time.Millisecond))}
	class := verdict.OfStatus(e.ErrorStatus, "")
	ok := class != verdict.Unknown
	if !ok {
		class, ok = byError.Of(string(e.Error))
	}
	if !ok || e.ErrorStatus == 0 && e.Error == "unknown" {
		class = verdict.Network // it had no answer at all
	}
	if e.ErrorStatus == 429 && f.limit.resets() { // which was refused just now
		class = verdict.UsageLimit
	}
	r.Verdict = verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "api_retry", SessionID: f.Session,
		Evidence: statusText(e.ErrorStatus)}
	if class == verdict.UsageLimit {
		r.Verdict.Hint.At = f.limit.resetTime()
	} else if r.Wait > backoff(e.Attempt) || r.Wait > 0 && r.Wait%time.Second == 0 {
		r.Verdict.Hint.After = r.Wait // it was told so: its own back-off is less, and never whole seconds
	}
	// A key from the environment does not get better. Any other may be refreshed, once.
	r.Hopeless = class == verdict.Auth && (f.ownKey || e.Attempt > 1) || class == verdict.Billing
	// Of a long wait claude tells again every 30 s, with what is left of it.
	r.Repeated = f.retried > 1 && e.Attempt == f.waits.Attempt && e.ErrorStatus == f.waits.ErrorStatus && e.RetryDelay < f.waits.RetryDelay && f.waits.RetryDelay > heartbeat
	f.waits = e
	return r
}

// heartbeat is the shortest wait that claude tells of more than once, in milliseconds.
const heartbeat = 30_000

// backoff is the most that claude waits by itself before its nth retry.
func backoff(n int) time.Duration {
	d := 500 * time.Millisecond << min(max(n-1, 0), 6)
	return min(d, 32*time.Second)*5/4 + 100*time.Millisecond
}

func statusText(status int) string {
	if status == 0 {
		return "no answer"
	}
	return fmt.Sprintf("HTTP %d", status)
}

// unseen are the retries that old versions make without an event.
func (f *follower) unseen() int {
	if f.Retries > 0 || !f.class.Retryable() || f.class == verdict.BadOutput || f.class == verdict.SessionBusy || !f.events || tellsRetries(f.Version) {
		return 0
	}
	return f.maxRetries()
}

// maxRetries is how often claude tries again by itself.
func (f *follower) maxRetries() int {
	set := cmp.Or(agent.Getenv(f.plan.Env, maxRetriesVar), f.profile.getenv(maxRetriesVar))
	if n, err := strconv.Atoi(set); err == nil && n >= 0 {
		return min(n, 15)
	}
	return defaultRetries
}

// defaultRetries is how often claude tries again by itself unless it is told otherwise.
const defaultRetries = 10

// tellsRetries reports whether a version has the event api_retry.
func tellsRetries(version string) bool {
	return agent.CompareVersions(version, "2.1") >= 0
}
