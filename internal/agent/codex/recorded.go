package codex

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// classByInfo has codex's own names for why a turn failed, which it writes into its record and not into its events. Those that
// leave it open are not here: usage_limit_exceeded stands for a limit, a plan and a quota, other for anything.
var classByInfo = agent.Classes{
	"rate_limit_exceeded":           verdict.RateLimit,
	"server_overloaded":             verdict.Overloaded,
	"internal_server_error":         verdict.ServerError,
	"model_not_found":               verdict.NotFound,
	"context_window_exceeded":       verdict.TooLarge,
	"unauthorized":                  verdict.Auth,
	"bad_request":                   verdict.InvalidRequest,
	"invalid_prompt":                verdict.Refused,
	"cyber_policy":                  verdict.Refused,
	"bio_policy":                    verdict.Refused,
	"misalignment_policy_violation": verdict.Refused,
	"response_stream_disconnected":  verdict.Network,
}

// judgeByInfo judges by that name where the message says too little: for an unknown model, say, codex shows the
// server's message as it is.
func judgeByInfo(info json.RawMessage, now time.Time) (verdict.Verdict, bool) {
	var name string
	if json.Unmarshal(info, &name) == nil {
		class, ok := classByInfo[name]
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
