package faulttest

import (
	"fmt"
	"syscall"
	"time"

	"github.com/belay-run/belay/verdict"
)

// jobSuccess is a plain command that works.
func jobSuccess(answer string) Fault {
	return Fault{Name: "success", Ops: []Op{{Out: answer + "\n"}}, Class: verdict.OK, Answer: answer + "\n"}
}

// jobFaults are the ways in which a plain command fails. Every failure is worth repeating where that was asked for, unless it
// was told to end.
func jobFaults(hint time.Duration, code int) []Fault {
	any := func(name string, class verdict.Class, stderr string) Fault {
		f := fails(name, class, Op{Err: stderr}).exits(code)
		f.Retryable = true
		return f
	}
	crash := func(f Fault) Fault {
		f.Retryable = true
		return f
	}
	return []Fault{
		any("a failure", verdict.Unknown, "no luck\n"),
		any("a failure without a word", verdict.Unknown, ""),
		any("throttled", verdict.RateLimit, "HTTP/1.1 429 Too Many Requests\n"),
		any("throttled, with a time to come back", verdict.RateLimit, fmt.Sprintf("HTTP/1.1 429 Too Many Requests\nRetry-After: %d\n", hint/time.Second)).says(hint),
		any("connection refused", verdict.Network, "curl: (7) connect: Connection refused\n"),
		any("503", verdict.ServerError, "HTTP/1.1 503 Service Unavailable\n"),
		crash(fails("segmentation fault", verdict.Crash).dies(int(syscall.SIGSEGV))),
		crash(fails("out of memory", verdict.Crash).dies(int(syscall.SIGKILL))),
		fails("told to end", verdict.Interrupted).dies(int(syscall.SIGTERM)),
		fails("told to end, and says so", verdict.Interrupted).exits(130),
		{Name: "hang", Ops: []Op{{Hang: true}}, Class: verdict.Stalled, Retryable: true, Ends: ByStall},
		{Name: "never ends", Ops: []Op{{Out: "still here\n", Alive: true}}, Class: verdict.Timeout, Ends: ByTimeout},
	}
}
