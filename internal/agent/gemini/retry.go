package gemini

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// retryNotice reads what gemini says on stderr when it is about to try again. It may take more than one line:
//
//	Attempt 1 failed with status 503. Retrying with backoff... _ApiError: {"error":{"code":503,"message":"…"}}
//	Attempt 1 failed. Retrying with backoff... Error: exception TypeError: fetch failed sending request
//	Attempt 1 failed: Resource has been exhausted (e.g. check quota).
//	Suggested retry after 3s.. Retrying after 5926ms...
type retryNotice struct {
	attempt int    // that has failed; 0 if no notice has begun
	text    string // what was said of it so far
}

// maxNotice is how long a notice may be.
const maxNotice = 8 << 10

var (
	noticeBegins = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^Attempt (\d+) failed(?: with (?:status (\d{3})|(429|5)))?[^:.]*([:.]) ?(.*)$`)
	})
	noticeEnds = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(.*)\. Retrying after (\d+)ms\.\.\.`)
	})
)

const backsOff = "Retrying with backoff... "

// read takes a line, and returns the retry that it tells of; nil if it tells of none.
func (n *retryNotice) read(line string) *agent.Retrying {
	if strings.HasPrefix(line, "Attempt ") {
		if m := noticeBegins().FindStringSubmatch(line); m != nil {
			*n = retryNotice{}
			attempt, _ := strconv.Atoi(m[1])
			if _, why, ok := strings.Cut(line, backsOff); ok {
				status, _ := strconv.Atoi(m[2])
				return retrying(attempt, status, why, 0)
			}
			if m[4] != ":" || strings.HasSuffix(line, ". Max attempts reached") {
				return nil
			}
			n.attempt, line = attempt, m[5]
		}
	}
	if n.attempt == 0 {
		return nil
	}
	if m := noticeEnds().FindStringSubmatch(line); m != nil {
		ms, _ := strconv.ParseInt(m[2], 10, 32)
		r := retrying(n.attempt, 0, strings.TrimPrefix(n.text+"\n"+m[1], "\n"), time.Duration(ms)*time.Millisecond)
		*n = retryNotice{}
		return r
	}
	if n.text += "\n" + line; len(n.text) > maxNotice || strings.HasSuffix(line, ". Max attempts reached") {
		*n = retryNotice{}
	}
	return nil
}

// retrying is the retry after an attempt that failed with that status, if it has one, and for that reason. A wait of 0 is
// gemini's own back-off.
func retrying(attempt, status int, why string, wait time.Duration) *agent.Retrying {
	c := complaint{status: status}
	c.setMessage(withoutName(why))
	if c.status == 0 && wait > 0 {
		c.status = 429 // it waits for so long only where it was told to
	}
	r := &agent.Retrying{Verdict: c.classify(time.Now()), Wait: wait}
	r.Wait = cmp.Or(r.Wait, backoff(attempt))
	if v := &r.Verdict; v.Class.Throttle() && v.Hint.IsZero() && wait > longestBackoff {
		v.Hint.After = wait // it was told so: its own back-off is less
	} else if v.Hint.After > longestBackoff {
		r.Wait = v.Hint.After // it waits up to a fifth longer, which is not what the service has asked for
	}
	switch r.Verdict.Class {
	case verdict.Auth, verdict.Billing, verdict.InvalidRequest, verdict.NotFound, verdict.TooLarge:
		r.Hopeless = true // the service will say the same again
	}
	return r
}

// backoff is how long gemini waits by itself after an attempt, give or take three tenths.
func backoff(attempt int) time.Duration {
	return min(5*time.Second<<min(max(attempt-1, 0), 3), 30*time.Second)
}

// longestBackoff is the most that it waits by itself.
const longestBackoff = 39 * time.Second

// withoutName takes the name of its kind off an error: "_ApiError: {…}".
func withoutName(text string) string {
	if name, rest, ok := strings.Cut(text, "Error: "); ok && strings.Trim(name, letters) == "" {
		return rest
	}
	return text
}

const letters = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
