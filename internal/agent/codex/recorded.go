package codex

import (
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// classByInfo has codex's own names for why a turn failed, which it writes into its record and not into its events. Those that
// leave it open are not here: usage_limit_exceeded stands for a limit, a plan and a quota, other for anything.
var classByInfo = agent.Classes{
	verdict.RateLimit:      "rate_limit_exceeded",
	verdict.Overloaded:     "server_overloaded",
	verdict.ServerError:    "internal_server_error",
	verdict.NotFound:       "model_not_found",
	verdict.TooLarge:       "context_window_exceeded",
	verdict.Auth:           "unauthorized",
	verdict.InvalidRequest: "bad_request",
	verdict.Refused:        "invalid_prompt cyber_policy bio_policy misalignment_policy_violation",
	verdict.Network:        "response_stream_disconnected",
}

// judgeByInfo judges by that name where the message says too little: for an unknown model, say, codex shows the
// server's message as it is.
func judgeByInfo(info json.RawMessage, now time.Time) (verdict.Verdict, bool) {
	var name string
	if json.Unmarshal(info, &name) == nil {
		class, ok := classByInfo.Of(name)
		return verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "record-" + name}, ok
	}
	if v := classify(fmt.Sprintf("unexpected status %d", statusOf(info)), now); v.Class != verdict.Unknown {
		return v, true
	}
	return verdict.Verdict{}, false
}

// statusOf is the HTTP status that stands in the place of a name; 0 if there is none.
func statusOf(info json.RawMessage) int {
	var status map[string]struct {
		Code int `json:"http_status_code"`
	}
	json.Unmarshal(info, &status)
	for _, s := range status {
		return s.Code
	}
	return 0
}

// Recall says what codex's own record of a session tells of an attempt that began then and was not followed to its
// end, and when it last wrote something. ok is false if the session has no record. home is where codex keeps it. What it has
// cost codex does not know.
func Recall(home, session string, since time.Time, prices *price.Table) (a agent.Account, last time.Time, ok bool) {
	path := findRollout(home, session)
	info, err := os.Stat(path)
	if path == "" || err != nil {
		return a, last, false
	}
	r, err := readRollout(path, since, 0)
	if err != nil {
		return a, last, false
	}
	a = agent.Account{Session: session, Active: len(r.calls) > 0, Usage: r.calls.Usage(), Estimate: r.calls.Cost(prices),
		Model: r.model, Version: r.version, Requests: len(r.calls)}
	a.Usage.Unknown = len(r.calls) == 0
	return a, info.ModTime(), true
}
