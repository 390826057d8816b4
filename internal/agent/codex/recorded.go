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
