//go:build linux

package agents_test

import (
	"fmt"

	"github.com/belay-run/belay/verdict"
)

// chatError is an answer of a provider that refuses.
func chatError(status int, kind, code, message string) string {
	return fmt.Sprintf("%d(body=`{\"error\":{\"message\":%q,\"type\":%q,\"param\":null,\"code\":%q}}`)x*", status, message, kind, code)
}

var opencodeRecorded = []recorded{
	{name: "key-invalid", script: chatError(401, "invalid_request_error", "invalid_api_key", "Incorrect API key provided: sk-x. You can find your API key at https://platform.openai.com/account/api-keys."), class: verdict.Auth},
	{name: "forbidden", script: chatError(403, "permission_error", "", "Your account does not have access to this resource."), class: verdict.Auth},
	{name: "region", script: chatError(403, "request_forbidden", "unsupported_country_region_territory", "Country, region, or territory not supported"), class: verdict.Auth},
	{name: "payment", script: chatError(402, "invalid_request_error", "402", "Insufficient credits. Add more using https://openrouter.ai/credits"), class: verdict.Billing},
	{name: "no-model", script: chatError(404, "invalid_request_error", "model_not_found", "The model gpt-9 does not exist or you do not have access to it."), class: verdict.NotFound},
	{name: "bad-request", script: chatError(400, "invalid_request_error", "", "Invalid value: x. Supported values are: system, user."), class: verdict.InvalidRequest},
	{name: "unprocessable", script: "422(body=`{\"detail\":[{\"loc\":[\"body\",\"messages\"],\"msg\":\"field required\"}]}`)x*", class: verdict.InvalidRequest},
	{name: "context", script: chatError(400, "invalid_request_error", "context_length_exceeded", "This model's maximum context length is 128000 tokens. However, your messages resulted in 213000 tokens."), class: verdict.TooLarge},
	{name: "too-large", script: "413(body=`<html>413 Request Entity Too Large</html>`, content-type=text/html)x*", class: verdict.TooLarge},
	{name: "policy", script: chatError(400, "invalid_request_error", "content_policy_violation", "Your request was rejected as a result of our safety system."), class: verdict.Refused},
	{name: "filtered", script: "200(stop=content_filter)x*", class: verdict.Refused},
	{name: "length", script: "200(stop=length)x*", class: verdict.LimitReached},
	{name: "malformed", script: "200(content-type=text/event-stream, body=`data: {nope\n\n`)x*", class: verdict.BadOutput},
	// Without its log opencode does not say why.
	{name: "unknown-model", script: "200", args: []string{"-m", "rehearsal/nope"}, class: verdict.Unknown},
	{name: "unknown-provider", script: "200", args: []string{"-m", "nope/nope"}, class: verdict.Unknown},
	{name: "broken-config", script: "200", env: []string{"OPENCODE_CONFIG_CONTENT={nope"}, class: verdict.InvalidRequest},
	{name: "wrong-config", script: "200", env: []string{`OPENCODE_CONFIG_CONTENT={"model": 3}`}, class: verdict.InvalidRequest},
	{name: "no-session", script: "200", args: []string{"-s", "ses_e23634cffffe7BTx91ERbyKpKO"}, class: verdict.SessionNotFound},
	{name: "no-agent-file", script: "200", args: []string{"-f", "/nonexistent/file.txt", "--"}, class: verdict.InvalidRequest},
}
