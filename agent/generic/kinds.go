package generic

import (
	"sync"

	"github.com/belay-run/belay/verdict"
)

// kinds tell the failures of commands that speak of a service apart. They never make a failure worth repeating, the
// caller does that; they say how one that is repeated is to be waited for: a throttle by its limit, the rest by count.
var kinds = sync.OnceValue(func() *verdict.Rules {
	rules, err := verdict.Compile(
		verdict.Rule{Name: "throttled", Class: verdict.RateLimit,
			Match: `\b(http[/ 0-9.]*|status( code)?:? |error:? )429\b|too many requests|rate.?limit(ed| exceeded| reached|:)|\bRATE_LIMITED\b|throttl(ed|ing)|submitted too quickly|\btoomanyrequests\b|\bRequestLimitExceeded\b|\bRESOURCE_EXHAUSTED\b`},
		verdict.Rule{Name: "overloaded", Class: verdict.Overloaded,
			Match: `\b(http[/ 0-9.]*|status( code)?:? |error:? )529\b|\boverloaded\b|at capacity`},
		verdict.Rule{Name: "server-error", Class: verdict.ServerError,
			Match: `\b(http[/ 0-9.]*|status( code)?:? |error:? )(408|50[0-4])\b|internal server error|bad gateway|service unavailable|gateway time-?out`},
		verdict.Rule{Name: "network", Class: verdict.Network,
			Match: `connection (refused|reset|timed out|closed by)|could not resolve host|no such host|name or service not known|temporary failure in name resolution|network is unreachable|no route to host|broken pipe|unexpected EOF|i/o timeout|socket hang up`},
		verdict.Rule{Name: "errno", Class: verdict.Network, Match: `\bE(CONN(RESET|REFUSED|ABORTED)|TIMEDOUT|NOTFOUND|AI_AGAIN|HOSTUNREACH|NETUNREACH)\b`},
	)
	if err != nil {
		panic(err) // a test compiles them
	}
	return rules
})
