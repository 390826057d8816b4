package claude

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

var now = time.Date(2026, 11, 15, 1, 0, 0, 0, time.UTC)

// judged is what an outcome means.
func judged(stdout, stderr string, code int) verdict.Verdict {
	o := verdict.Outcome{ExitCode: code, Stdout: verdict.ExcerptOf(stdout), Stderr: verdict.ExcerptOf(stderr)}
	return New([]string{"claude", "-p"}, []string{}).Judge(o, now)
}

// line is an event.
func line(fields string) string {
	return `{"session_id":"5a0f7d1e-0000-4000-8000-000000000001","uuid":"u",` + fields + "}\n"
}

// failed is the result of a run that failed with that text, as a stream.
func failed(text string, more ...string) string {
	return line(fmt.Sprintf(`"type":"result","subtype":"success","is_error":true,"result":%s%s`, quoted(text), strings.Join(more, "")))
}

func quoted(text string) string {
	data, _ := json.Marshal(text)
	return string(data)
}

type sentence struct {
	rule  string
	class verdict.Class
	text  string
}

// said is what claude says of its failures, word for word, and which rule knows it.
var said = []sentence{
	{"throttle", verdict.RateLimit, "API Error: Server is temporarily limiting requests (not your usage limit) · This request would exceed your rate limit."},
	{"throttle", verdict.RateLimit, "Claude AI usage limit reached|0"},
	{"throttle", verdict.RateLimit, "You've reached your rate limit. Please try again in 20s."},
	{"plan-limit", verdict.UsageLimit, "You've hit your session limit · resets 2:21am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You’ve hit your session limit · resets 2:21am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your weekly limit · resets Nov 19, 1:52am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your 5-hour limit · resets 3:36am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your limit · resets 3:52am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You’ve hit your Opus limit ∙ resets 3:52am (UTC)"},
	{"plan-limit-reached", verdict.UsageLimit, "Session limit reached ∙ resets 3:52am"},
	{"plan-limit-reached", verdict.UsageLimit, "Weekly limit reached · resets Nov 19, 1:52am"},
	{"plan-limit-reached", verdict.UsageLimit, "5-hour limit reached ∙ resets 3am"},
	{"plan-limit-reached", verdict.UsageLimit, "Spending cap reached resets 3:52am"},
	{"usage-limit-epoch", verdict.UsageLimit, "Claude AI usage limit reached|1794706800"},
	{"anthropic-plan", verdict.UsageLimit, "API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."},
	{"credit", verdict.Billing, "Credit balance is too low"},
	{"credit", verdict.Billing, "API Error: 402 Your account has no credit left."},
	{"not-logged-in", verdict.Auth, "Not logged in · Please run /login"},
	{"not-logged-in", verdict.Auth, "Invalid API key · Please run /login"},
	{"not-logged-in", verdict.Auth, "Invalid API key · Fix external API key"},
	{"not-logged-in", verdict.Auth, "OAuth token revoked · Please run /login"},
	{"not-logged-in", verdict.Auth, "Failed to authenticate. API Error: 401 OAuth token has expired. Please obtain a new token or refresh your existing token."},
	{"not-logged-in", verdict.Auth, "Failed to authenticate: OAuth token revoked. Please log in again."},
	{"not-logged-in", verdict.Auth, "Failed to authenticate. API Error: 403 Your API key does not have permission."},
	{"not-logged-in", verdict.Auth, "Your account does not have access to Claude. Please login again or contact your administrator."},
	{"shut-out", verdict.Auth, "Your ANTHROPIC_API_KEY belongs to a disabled organization · Update or unset the environment variable"},
	{"not-logged-in", verdict.Auth, "API Error: 401 invalid x-api-key"},
	{"refresh", verdict.Network, "Failed to refresh OAuth token: fetch failed"},
	{"prompt-too-long", verdict.TooLarge, "Prompt is too long · the request is ~213000 tokens (limit 200000)"},
	{"prompt-too-long", verdict.TooLarge, "Prompt is too long"},
	{"prompt-too-long", verdict.TooLarge, "Request too large (max 32MB). Try with a smaller file."},
	{"prompt-too-long", verdict.TooLarge, "Request too large (max 32MB). Accumulated images and attachments in this conversation exceed it."},
	{"prompt-too-long", verdict.TooLarge, "API Error: 413 Request exceeds the maximum size"},
	{"model", verdict.NotFound, "There's an issue with the selected model (banana). It may not exist or you may not have access to it. Run --model to pick a different model."},
	{"model", verdict.NotFound, "There’s an issue with the selected model (banana). It may not exist or you may not have access to it."},
	{"model", verdict.NotFound, "API Error: 404 model: banana"},
	{"max-turns", verdict.LimitReached, "Error: Reached max turns (2)"},
	{"max-turns", verdict.LimitReached, "Reached maximum number of turns (2)"},
	{"max-budget", verdict.LimitReached, "Error: Exceeded USD budget (0.5)"},
	{"max-budget", verdict.LimitReached, "Reached maximum budget ($0.5)"},
	{"max-output", verdict.LimitReached, "API Error: Claude's response exceeded the 64000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."},
	{"max-output", verdict.LimitReached, "API Error: Claude’s response exceeded the 128000 output token maximum."},
	{"policy", verdict.Refused, "API Error: Claude Code is unable to respond to this request, which appears to violate our Usage Policy (https://www.anthropic.com/legal/aup)."},
	{"policy", verdict.Refused, "API Error: Opus 5.5's safeguards flagged this message."},
	{"no-conversation", verdict.SessionNotFound, "No conversation found with session ID: 00000000-0000-4000-8000-000000000000"},
	{"in-use", verdict.SessionBusy, "Error: Session ID 00000000-0000-4000-8000-000000000000 is already in use."},
	{"rejected", verdict.RateLimit, "API Error: Request rejected (429) · This request would exceed your organization's rate limit."},
	{"throttle", verdict.RateLimit, "API Error: Rate limit reached"},
	{"rejected", verdict.RateLimit, "API Error: 429 Too Many Requests"},
	{"overloaded", verdict.Overloaded, "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. If it persists, check your inference gateway (127.0.0.1:4711)."},
	{"overloaded", verdict.Overloaded, "API Error: Repeated 529 Overloaded errors. The API is at capacity — this is usually temporary. Try again in a moment."},
	{"overloaded", verdict.Overloaded, "API Error: 503 The service is at capacity. This is a server-side issue, usually temporary — try again in a moment."},
	{"server-error", verdict.ServerError, "API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment."},
	{"server-error", verdict.ServerError, "API Error: 502 Bad Gateway"},
	{"server-error", verdict.ServerError, "API Error: api.anthropic.com | 520: Web server is returning an unknown error. This is a server-side issue, usually temporary — try again in a moment."}, // the title of Cloudflare's page
	{"server-error", verdict.ServerError, "API Error: 503 Service unavailable."},
	{"server-error", verdict.ServerError, "API Error: 408 Request timeout"},
	{"timed-out", verdict.Timeout, "Request timed out"},
	{"timed-out", verdict.Timeout, "API Error: The operation timed out."},
	{"timed-out", verdict.Timeout, "API Error: Stream idle timeout - no chunks received"},
	{"connection", verdict.Network, "API Error: Unable to connect to API (ConnectionRefused)"},
	{"connection", verdict.Network, "API Error: Unable to connect to API (ECONNRESET)"},
	{"connection", verdict.Network, "API Error: Connection error."},
	{"connection", verdict.Network, "API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)"},
	{"connection", verdict.Network, "API Error: Connection dropped (ECONNRESET). Check the gateway set in ANTHROPIC_BASE_URL, then try again."},
	{"connection", verdict.Network, "API Error: Connection closed mid-response. The response above may be incomplete."},
	{"connection", verdict.Network, "API Error: Connection to the API was lost (ECONNRESET). This is usually temporary — try again."},
	{"malformed", verdict.BadOutput, "API Error: Failed to parse JSON"},
	{"malformed", verdict.BadOutput, `API Error: JSON Parse error: Unexpected identifier "not"`},
	{"malformed", verdict.BadOutput, "API Error: Unexpected token 'o', \"not json\" is not valid JSON"},
	{"malformed", verdict.BadOutput, "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request"},
	{"stumbled", verdict.BadOutput, "API Error: Cannot read properties of undefined (reading 'map')"},
	{"rejected-request", verdict.InvalidRequest, "API Error: 400 messages: at least one message is required"},
	{"rejected-request", verdict.InvalidRequest, "API Error: 400 tools.0.custom.input_schema: JSON schema is invalid."},
	{"history-pair", verdict.SessionBroken, "API Error: 400 due to tool use concurrency issues."},
	{"history-pair", verdict.SessionBroken, "API Error: 400 orphaned tool_result in conversation history."},
	{"history-pair", verdict.SessionBroken, "API Error: 400 messages.4.content.0: each tool_use must have a single result. Found multiple `tool_result` blocks with id: toolu_01A"},
	{"history-pair", verdict.SessionBroken, `API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.2: ` + "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A. Each `tool_use` block must have a corresponding `tool_result` block in the next message." + `"}}`},
	{"history-pair", verdict.SessionBroken, "API Error: 400 messages.5: `web_search` tool use with id `srvtoolu_1` was found without a corresponding `web_search_tool_result` block"},
	{"history-pair", verdict.SessionBroken, "API Error: 400 messages.2.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
	{"history-thinking", verdict.SessionBroken, "API Error: 400 messages.1.content.0: Invalid `signature` in `thinking` block"},
	{"history-thinking", verdict.SessionBroken, "API Error: 400 messages.3.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response."},
	{"history-thinking", verdict.SessionBroken, "API Error: 400 messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block."},
	{"history-empty", verdict.SessionBroken, "API Error: 400 messages: text content blocks must be non-empty"},
	{"history-empty", verdict.SessionBroken, "API Error: 400 messages.3: all messages must have non-empty content except for the optional final assistant message"},
	{"history-empty", verdict.SessionBroken, "API Error: 400 messages.6.content.1: Input tag 'foo' found using 'type' does not match any of the expected tags: 'text', 'thinking'"},
	{"history-image", verdict.SessionBroken, `API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"messages.41.content.31.image.source.base64.data: At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels"}}`},
	{"history-image", verdict.SessionBroken, "API Error: 400 Could not process image"},
}

// bundled are sentences that stand in the programs of 2.0.77, 2.1.197 and 2.1.325 beside those of said, and some that users
// have reported of versions between.
var bundled = []sentence{
	{"plan-limit", verdict.UsageLimit, "You've hit your Opus limit · resets Oct 31, 9am (America/New_York)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your Sonnet limit · resets 5pm (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your Fable 5 limit · resets Nov 19, 1:52am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your usage limit · resets 5pm (Asia/Tokyo)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your usage limit · contact your admin to increase it"},
	{"plan-limit", verdict.UsageLimit, "You've hit your weekly limit · resets Sep 15 at 7pm"},
	{"plan-limit", verdict.UsageLimit, "You've hit your 5-hour limit · resets 3:36am (UTC) · progress saved"},
	{"plan-limit", verdict.UsageLimit, "You've hit your org's monthly spend limit · run /usage-credits to raise it, or visit claude.ai/admin-settings/usage"},
	{"plan-limit", verdict.UsageLimit, "You've hit your org's monthly spend limit · run /usage-credits to ask your admin for a higher limit · your weekly limit resets Nov 19, 1:52am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your monthly spend limit · raise it at claude.ai/settings/usage"},
	{"plan-limit", verdict.UsageLimit, "You've hit your org's monthly usage limit · resets Dec 1, 12am (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your individual spend limit · ask your admin for a higher limit"},
	{"plan-limit", verdict.UsageLimit, "You've hit your team's shared budget · your session limit resets 3pm (UTC)"},
	{"plan-limit", verdict.UsageLimit, "You've hit your channel's monthly spend limit. Switch to another model to continue."},
	{"plan-limit", verdict.UsageLimit, "You've reached your Fable 5 limit. Run /usage-credits to continue or switch models with /model."},
	{"credits-reset", verdict.UsageLimit, "You're out of usage credits · resets 3pm (UTC)"},
	{"credits-reset", verdict.UsageLimit, "You're out of extra usage · resets 11pm (Europe/Berlin)"},
	{"plan-limit-reached", verdict.UsageLimit, "Opus weekly limit reached ∙ resets Oct 31, 9am"},
	{"plan-limit-reached", verdict.UsageLimit, "Claude usage limit reached. Your limit will reset at 3pm (America/Santiago)."},
	{"usage-limit-epoch", verdict.UsageLimit, "Claude AI usage limit reached|1760004000"},
	{"plan-limit-reached", verdict.UsageLimit, "API Error: Request rejected (429) · spend limit reached · resets Dec 1, 12am (UTC)"},
	{"credits-reset", verdict.UsageLimit, "Usage is paused for your organization. For help, please contact support."},
	{"credit", verdict.Billing, "You're out of usage credits. Run /usage-credits to keep using Fable 5 or /model to switch models."},
	{"credit", verdict.Billing, "You're out of usage credits. Switch to another model to continue."},
	{"credit", verdict.Billing, "Your org is out of usage · add funds to continue"},
	{"credit", verdict.Billing, "Your org is out of usage · contact your admin"},
	{"plan", verdict.Billing, "Your seat type doesn't include usage credits"},
	{"plan", verdict.Billing, "Your seat type doesn't include extra usage"},
	{"plan", verdict.Billing, "This service is disabled for your org"},
	{"plan", verdict.Billing, "Your usage allocation has been disabled by your admin · run /usage-credits to ask your admin for a higher limit"},
	{"plan", verdict.Billing, "Your group's usage limit is set to $0 · run /usage-credits to ask your admin for a higher limit"},
	{"credit", verdict.Billing, "Fable 5 requires usage credits. Run /usage-credits to continue or switch models with /model."},
	{"credit", verdict.Billing, "API Error: Usage credits required for 1M context · turn on usage credits at claude.ai/settings/usage, or use --model to switch to standard context"},
	{"plan", verdict.Billing, "Claude Opus is not available with the Claude Pro plan. If you have updated your subscription plan recently, run /logout and /login for the plan to take effect."},
	{"plan", verdict.Billing, "Auto mode is unavailable for your plan"},
	{"not-logged-in", verdict.Auth, "Your account does not have access to Claude Code. Please run /login."},
	{"not-logged-in", verdict.Auth, "Login expired · Please run /login"},
	{"not-logged-in", verdict.Auth, "Login expired · Run /login to sign in again"},
	{"not-logged-in", verdict.Auth, "Login reached its time limit · Please run /login"},
	{"not-logged-in", verdict.Auth, "Failed to authenticate: OAuth session expired and could not be refreshed"},
	{"not-logged-in", verdict.Auth, "Failed to authenticate: this login reached its time limit and cannot be renewed. Run `claude auth login` to sign in again, or use `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN for unattended jobs"},
	{"shut-out", verdict.Auth, "Your organization has disabled API key authentication · Unset ANTHROPIC_API_KEY to use your claude.ai account instead"},
	{"shut-out", verdict.Auth, "Your organization has disabled Claude subscription access for Claude Code · Use an Anthropic API key instead, or ask your admin to enable access"},
	{"credentials", verdict.Auth, "Authentication error · This may be a temporary network issue, please try again"},
	{"credentials", verdict.Auth, "Authentication error · The gateway could not authenticate with its upstream provider — contact your gateway administrator"},
	{"credentials", verdict.Auth, "Authentication required · Sign in again to continue"},
	{"shut-out", verdict.Auth, "Your apiKeyHelper script is failing · This usually means you need to re-authenticate with your provider · Run /status to see the script's error output"},
	{"not-logged-in", verdict.Auth, "Invalid auth token · Fix external auth token · Header value contains a newline"},
	{"not-logged-in", verdict.Auth, "AWS credentials expired or invalid · run `aws sso login` and retry · API Error: 403 The security token included in the request is expired"},
	{"not-logged-in", verdict.Auth, "AWS authentication failed · refresh your AWS credentials (SSO sign-in, access keys, API key or proxy token) and retry · API Error: 403 x"},
	{"not-logged-in", verdict.Auth, "Google Cloud authentication failed · refresh your Google Cloud credentials and retry · API Error: 403 Permission denied"},
	{"not-logged-in", verdict.Auth, "Microsoft Foundry authentication failed · refresh your Foundry credential and retry · API Error: 401 x"},
	{"not-logged-in", verdict.Auth, "Gateway refused the request · signing in again won't change this — check with your gateway administrator · API Error: 403 nope"},
	{"credentials", verdict.Auth, "API Error: Could not load AWS credentials · Could not load credentials from any providers. Check or refresh your AWS credentials and try again."},
	{"credentials", verdict.Auth, "API Error: Could not load Google Cloud credentials · Could not load the default credentials. Browse to https://cloud.google.com/docs/authentication/getting-started for more information."},
	{"credentials", verdict.Auth, "API Error: Could not load the default credentials. Browse to https://cloud.google.com/docs/authentication/getting-started for more information."},
	{"credentials", verdict.Auth, "Could not load credentials from any providers"},
	{"not-logged-in", verdict.Auth, "Anthropic profile login expired · Re-authenticate your Anthropic profile"},
	{"shut-out", verdict.Auth, "Your account is on hold and can't use Claude Code. View details or appeal: https://claude.ai/restricted"},
	{"shut-out", verdict.Auth, "API Error: Request blocked before it reached Anthropic's API (HTTP 403) · the network this request came from isn't allowed: usually an unsupported region, or a VPN, proxy or hosting network"},
	{"account", verdict.Auth, "API Error: 400 This organization has been disabled."},
	{"shut-out", verdict.Auth, "Your ANTHROPIC_API_KEY belongs to a disabled organization · Unset the environment variable to use your subscription instead"},
	{"not-logged-in", verdict.Auth, "Please run /login · API Error: 401 Invalid authentication credentials"},
	{"not-logged-in", verdict.Auth, "API Error: 407 Proxy Authentication Required"},
	{"prompt-too-long", verdict.TooLarge, "Prompt is too long · this conversation is a single exchange and cannot be compacted — the request size comes mostly from system prompt, tool definitions, or attachments."},
	{"prompt-too-long", verdict.TooLarge, "Prompt is too long · the provider said: Input is too long for requested model."},
	{"prompt-too-long", verdict.TooLarge, "Request too large for the API's 32MB request limit: this conversation is about 40MB, and none of it is images or documents that could be removed, so removing attachments or compacting cannot make it fit."},
	{"prompt-too-long", verdict.TooLarge, "Conversation too long. Press esc twice to go up a few messages and try again."},
	{"media-too-large", verdict.TooLarge, "Image was too large. Double press esc to go back and try again with a smaller image."},
	{"history-image", verdict.SessionBroken, "An image in the conversation exceeds the dimension limit for many-image requests (2000px). Start a new session with fewer images."},
	{"media-too-large", verdict.TooLarge, "PDF too large (max 100 pages, 20MB). Try reading the file a different way (e.g., extract text with pdftotext)."},
	{"prompt-too-long", verdict.TooLarge, "API Error: The model has reached its context window limit."},
	{"context", verdict.TooLarge, "API Error: 400 This model's maximum context length is 131072 tokens. However, you requested 140000 tokens. Please reduce the length of the messages."},
	{"context", verdict.TooLarge, "API Error: 400 litellm.ContextWindowExceededError: This model's maximum context length is 128,000 tokens."},
	{"litellm-budget", verdict.Billing, "API Error: 400 ExceededBudget: User=u1 over budget. Spend=10.5, Budget=10.0"},
	{"litellm-budget", verdict.Billing, "API Error: Request rejected (429) · Budget has been exceeded! Current cost: 10.5, Max budget: 10.0"},
	{"model", verdict.NotFound, "The model claude-opus-4-8 is not available on your bedrock deployment. Try --model to switch to claude-opus-4-7, or ask your admin to enable this model."},
	{"overloaded", verdict.Overloaded, "Opus is experiencing high load, please use /model to switch to Sonnet"},
	{"overloaded", verdict.Overloaded, "Fable is experiencing high load. Switch to Sonnet."},
	{"overloaded", verdict.Overloaded, "API Error: Overloaded"},
	{"server-error", verdict.ServerError, "API Error: 522 api.anthropic.com | 522: Connection timed out. This is a server-side issue, usually temporary — try again in a moment."},
	{"server-error", verdict.ServerError, "API Error: 524 <html><title>A timeout occurred</title></html>"},
	{"server-error", verdict.ServerError, "API Error: 503 upstream connect error or disconnect/reset before headers. reset reason: overflow"},
	{"server-error", verdict.ServerError, "API Error: The API is temporarily unavailable"},
	{"rejected", verdict.RateLimit, "API Error: Request rejected (429) · this may be a temporary capacity issue. If it persists, check your inference gateway (127.0.0.1:1)."},
	{"bedrock-throttle", verdict.RateLimit, "API Error: 429 Too many tokens, please wait before trying again."},
	{"errno", verdict.Network, "API Error: Can't reach the API server — check your internet or DNS (ENOTFOUND)"},
	{"errno", verdict.Network, "API Error: Can't reach the API server — check your internet or DNS (EAI_AGAIN)"},
	{"errno", verdict.Network, "API Error: No internet route — check your connection or VPN (EHOSTDOWN)"},
	{"errno", verdict.Network, "API Error: No internet route — check your connection or VPN (ENETDOWN)"},
	{"errno", verdict.Network, "API Error: No internet route — check your connection or VPN (ENETUNREACH)"},
	{"errno", verdict.Network, "API Error: Couldn't connect through your proxy (ERR_PROXY_TUNNEL) — the proxy refused the tunnel: check its credentials and that it allows this host"},
	{"connection", verdict.Network, "API Error: Connection dropped (UND_ERR_SOCKET). A VPN, firewall, or security software can cause this. Check those or switch networks, then try again."},
	{"connection", verdict.Network, "API Error: Unable to connect to API. Check your internet connection"},
	{"connection", verdict.Network, "API Error: Unable to connect to API (FailedToOpenSocket)"},
	{"connection", verdict.Network, "API Error: Connection lost while your computer was asleep"},
	{"connection", verdict.Network, "API Error: Connection closed before the response finished"},
	{"connection", verdict.Network, "API Error: The socket connection was closed unexpectedly. For more information, pass `verbose: true` in the second argument to fetch()"},
	{"connection", verdict.Network, "API Error: fetch failed"},
	{"connection", verdict.Network, "API Error: terminated"},
	{"errno", verdict.Network, "API Error: read ECONNRESET"},
	{"errno", verdict.Network, "API Error: write EPIPE"},
	{"errno", verdict.Network, "API Error: connect ECONNREFUSED 127.0.0.1:3456"},
	{"errno", verdict.Network, "API Error: getaddrinfo ENOTFOUND api.anthropic.com"},
	{"connection", verdict.Network, "API Error: socket hang up"},
	{"connection", verdict.Network, "API Error: Stream ended before the response was complete"},
	{"errno", verdict.Network, "API Error: EPROTO: The TLS handshake failed"},
	{"timed-out", verdict.Timeout, "API Error: Request timed out."},
	{"timed-out", verdict.Timeout, "API Error: Request timed out. Check your internet connection and proxy settings"},
	{"timed-out", verdict.Timeout, "API Error: No response from API (waited 3m). If a proxy or gateway on your network holds responses until they complete, raise API_TIMEOUT_MS or CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS to wait longer."},
	{"timed-out", verdict.Timeout, "API Error: Stream idle timeout - partial response received"},
	{"errno", verdict.Network, "API Error: connect ETIMEDOUT 160.79.104.10:443"},
	{"certificate", verdict.InvalidRequest, "API Error: Unable to connect to API: SSL certificate verification failed (UNABLE_TO_VERIFY_LEAF_SIGNATURE). The certificates the server sent don't lead to a trusted authority."},
	{"certificate", verdict.InvalidRequest, "API Error: Unable to connect to API: Self-signed certificate detected (SELF_SIGNED_CERT_IN_CHAIN). The certificate comes from an authority Claude Code doesn't trust"},
	{"certificate", verdict.InvalidRequest, "API Error: Unable to connect to API: SSL certificate has expired"},
	{"certificate", verdict.InvalidRequest, "API Error: Unable to connect to API: Self-signed certificate detected. Check your proxy or corporate SSL certificates"},
	{"certificate", verdict.InvalidRequest, "API Error: Unable to connect to API: SSL certificate hostname mismatch"},
	{"malformed", verdict.BadOutput, "API Error: Stream ended without receiving any events"},
	{"malformed", verdict.BadOutput, "API Error: Content block not found"},
	{"malformed", verdict.BadOutput, "API Error: Content block is not a text block"},
	{"malformed", verdict.BadOutput, "API Error: Unexpected end of JSON input"},
	{"malformed", verdict.BadOutput, "API Error: Unterminated string in JSON at position 4095 (line 1 column 4096)"},
	{"stumbled", verdict.BadOutput, "API Error: undefined is not an object (evaluating 'q.content.map')"},
	{"stumbled", verdict.BadOutput, "undefined is not an object (evaluating 'A.content.filter')"},
	{"stumbled", verdict.BadOutput, "null is not an object (evaluating 'e.usage.input_tokens')"},
	{"malformed", verdict.BadOutput, "API Error: API returned an empty or malformed response (HTTP 200) — check for a proxy or gateway intercepting the request. Response: content-type text/html, body is an HTML page, 27 bytes"},
	{"policy", verdict.Refused, "API Error: Opus 4.8's safeguards flagged this message (https://www.anthropic.com/legal/aup). This sometimes happens with safe, normal conversations. Claude Code can't respond to this message with Opus 4.8."},
	{"anthropic-policy", verdict.Refused, "API Error: Output blocked by content filtering policy"},
	{"max-output", verdict.LimitReached, "API Error: Claude's response exceeded the 32000 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable."},
	{"max-output", verdict.LimitReached, "Error: Failed to provide valid structured output after maximum retries"},
	{"history-pair", verdict.SessionBroken, "API Error: 400 duplicate tool_use ID in conversation history."},
	{"media", verdict.InvalidRequest, "PDF is password protected. Try using a CLI tool to extract or convert the PDF."},
	{"media", verdict.InvalidRequest, "The PDF file was not valid. Try converting it to text first (e.g., pdftotext)."},
	{"options", verdict.InvalidRequest, "API Error: Effort 'max' isn't available with thinking turned off on this model · use --effort high (or the effortLevel setting), or turn thinking back on (unset MAX_THINKING_TOKENS=0)"},
	{"history-image", verdict.SessionBroken, "API Error: an image in the conversation could not be processed and was removed. Re-read the file with a different approach if you still need it."},
	{"options", verdict.InvalidRequest, "API Error: Streaming is required for operations that may take longer than 10 minutes. See https://github.com/anthropics/anthropic-sdk-typescript#long-requests for more details"},
	{"disk-full", verdict.InvalidRequest, "Failed to refresh OAuth token: the disk that holds the Claude Code config directory (~/.claude by default), or your disk quota on it, is full. Delete files you no longer need on that disk and retry; signing in again won't help"},
	{"refresh", verdict.Network, "Failed to refresh OAuth token: another Claude Code process is refreshing it or exited mid-refresh. This is usually transient; retry in a minute, and if it persists close other Claude Code processes or sign in again"},
	{"hook", verdict.Blocked, "A mod's http.fetch hook stopped this request: no"},
	{"bedrock-model", verdict.NotFound, "API Error (us.anthropic.claude-x-v1:0): 400 The provided model identifier is invalid.. Run --model to pick a different model."},
	{"plan-limit-reached", verdict.UsageLimit, "Claude Max usage limit reached. Your limit will reset at 1pm (Etc/GMT+5)."},
}

// onStderr is what it says of a command line that it does not take.
var onStderr = []sentence{
	{"usage", verdict.InvalidRequest, "error: unknown option '--no-such-flag'"},
	{"usage", verdict.InvalidRequest, "error: option '--output-format <format>' argument 'yaml' is invalid. Allowed choices are text, json, stream-json."},
	{"usage", verdict.InvalidRequest, "Error: When using --print, --output-format=stream-json requires --verbose"},
	{"usage", verdict.InvalidRequest, "Error: Input must be provided either through stdin or as a prompt argument when using --print"},
	{"usage", verdict.InvalidRequest, "Error: --resume requires a valid session ID or session title when used with --print. Usage: claude -p --resume <session-id|title>"},
	{"usage", verdict.InvalidRequest, "Error: Invalid session ID. Must be a valid UUID."},
	{"usage", verdict.InvalidRequest, "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."},
	{"usage", verdict.InvalidRequest, "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons"},
	{"usage", verdict.InvalidRequest, "Error: Invalid MCP configuration:\nMCP config file not found: /nonexistent.json"},
	{"usage", verdict.InvalidRequest, "Error: Settings file not found: /nonexist.json"},
	{"usage", verdict.InvalidRequest, "Error: --max-budget-usd must be a positive number greater than 0"},
	{"usage", verdict.InvalidRequest, "Error parsing streaming input line: not json: SyntaxError: Unexpected identifier"},
	{"prompt-too-long", verdict.TooLarge, "Error: piped stdin input exceeds 10MB. Pass large content as a file path in your prompt instead."},
	{"no-conversation", verdict.SessionNotFound, "No conversation found with session ID: 00000000-0000-4000-8000-000000000000"},
	{"in-use", verdict.SessionBusy, "Error: Session ID 00000000-0000-4000-8000-000000000000 is already in use."},
	{"malformed", verdict.BadOutput, "Could not parse message into JSON: not json"},
	{"usage", verdict.InvalidRequest, "Error: Can't access working directory /gone: ENOENT"},
	{"files", verdict.InvalidRequest, "Error: Directory /nope does not exist"},
	{"files", verdict.InvalidRequest, "Error: System prompt file not found: /nope"},
	{"files", verdict.InvalidRequest, "Error: Fallback model cannot be the same as the main model. Please specify a different model for --fallback-model."},
	{"files", verdict.InvalidRequest, "Error processing settings: EACCES: permission denied"},
	{"files", verdict.InvalidRequest, "Error: Claude Code requires Node.js version 18 or higher."},
	{"no-conversation", verdict.SessionNotFound, "Failed to resume session 00000000-0000-4000-8000-000000000000"},
	{"stumbled", verdict.BadOutput, "Error: No messages returned from query"},
	{"not-logged-in", verdict.Auth, "Error: Invalid API key"},
	{"no-way", verdict.Network, "Error: Can't reach the API server"},
	{"no-way", verdict.Network, "Error: cannot connect to the API: ECONNREFUSED"},
	{"crashed", verdict.Crash, "panic(main thread): Segmentation fault at address 0x0\noh no: Bun has crashed. This indicates a bug in Bun, not your code."},
	{"crashed", verdict.Crash, "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory"},
}

func TestTexts(t *testing.T) {
	known := map[string]bool{}
	for _, s := range slices.Concat(said, bundled) {
		known[s.rule] = true
		for form, v := range map[string]verdict.Verdict{
			"text":   judged(s.text+"\n", "", 1),
			"stream": judged(failed(s.text), "", 1),
			"array":  judged("["+strings.TrimSpace(failed(s.text))+"]\n", "", 1),
		} {
			if v.Class != s.class || v.Rule != s.rule || v.Retryable != s.class.Retryable() {
				t.Errorf("%s, %q: %s by %s, retryable %v; want %s by %s", form, s.text, v.Class, v.Rule, v.Retryable, s.class, s.rule)
			}
		}
	}
	for _, s := range onStderr {
		known[s.rule] = true
		if v := judged("", s.text+"\n", 1); v.Class != s.class || v.Rule != s.rule {
			t.Errorf("%q: %s by %s, want %s by %s", s.text, v.Class, v.Rule, s.class, s.rule)
		}
	}
	for _, r := range textRuleTable {
		if !known[r.Name] {
			t.Errorf("the rule %s has no test", r.Name)
		}
	}
}

// A model may say all of that in a good answer, and a tool may print it.
func TestTexts_QuotedIsOK(t *testing.T) {
	for _, s := range slices.Concat(said, bundled, onStderr) {
		good := line(`"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":` + quoted(s.text) + `,"modelUsage":{"m":{"inputTokens":1,"outputTokens":1}}`)
		tool := line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":` + quoted(s.text) + `}]}`)
		answer := line(`"type":"assistant","message":{"id":"m1","model":"claude-opus-5-5","content":[{"type":"text","text":` + quoted(s.text) + `}]}`)
		for form, v := range map[string]verdict.Verdict{
			"stream":     judged(tool+answer+good, s.text+"\n", 0), // a tool may write to stderr too
			"text":       judged(s.text+"\n", "", 0),
			"text, long": judged("The log says:\n"+s.text+"\n", "", 0),
		} {
			if v.Class != verdict.OK {
				t.Errorf("%s, %q: %s by %s", form, s.text, v.Class, v.Rule)
			}
		}
	}
}

// What a model or a tool said before a failure is not why it failed.
func TestTexts_QuotedBeforeAFailure(t *testing.T) {
	quotes := line(`"type":"assistant","message":{"id":"m1","model":"claude-opus-5-5","content":[{"type":"text","text":"Credit balance is too low"}]}`) +
		line(`"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"API Error: 401 invalid x-api-key"}]}`)
	v := judged(quotes+failed("API Error: 500 Internal server error."), "", 1)
	if v.Class != verdict.ServerError {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
	if v := judged(quotes, "", 1); v.Class != verdict.Unknown {
		t.Errorf("without a result: %s by %s", v.Class, v.Rule)
	}
}

// Old versions print the API's answer as it came.
func TestTexts_Raw(t *testing.T) {
	for _, c := range []struct {
		class  verdict.Class
		status int
		kind   string
		text   string
		after  string
	}{
		{verdict.RateLimit, 429, "rate_limit_error", "This request would exceed your organization's rate limit.", ""},
		{verdict.Overloaded, 529, "overloaded_error", "Overloaded", ""},
		{verdict.ServerError, 500, "api_error", "Internal server error", ""},
		{verdict.ServerError, 504, "timeout_error", "timed out", ""},
		{verdict.Auth, 401, "authentication_error", "invalid x-api-key", " · Please run /login"},
		{verdict.Auth, 403, "permission_error", "no", " · Please run /login"},
		{verdict.Billing, 402, "billing_error", "pay", ""},
		{verdict.NotFound, 404, "not_found_error", "model: banana", ""},
		{verdict.TooLarge, 413, "request_too_large", "Request exceeds the maximum size", ""},
		{verdict.InvalidRequest, 400, "invalid_request_error", "messages: at least one message is required", ""},
		{verdict.TooLarge, 400, "invalid_request_error", "prompt is too long: 213000 tokens > 200000 maximum", ""},
		{verdict.Billing, 400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", ""},
		{verdict.UsageLimit, 400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", ""},
		{verdict.UsageLimit, 400, "invalid_request_error", "You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.", ""},
	} {
		for _, order := range []string{`{"type":"error","error":{"type":%q,"message":%q}}`, `{"request_id":"r","error":{"details":null,"type":%q,"message":%q},"type":"error"}`} {
			text := fmt.Sprintf("API Error: %d "+order+c.after, c.status, c.kind, c.text)
			for form, v := range map[string]verdict.Verdict{"text": judged(text+"\n", "", 1), "stream": judged(failed(text), "", 1)} {
				if v.Class != c.class || v.Retryable != c.class.Retryable() {
					t.Errorf("%s, %s: %s by %s, want %s", form, text, v.Class, v.Rule, c.class)
				}
			}
		}
	}
}

// byField checks that every row of a table decides by itself, of a result whose text says nothing.
func byField(t *testing.T, table agent.Classes, result func(key string) string) {
	t.Helper()
	for key, class := range table.All() {
		v := judged(result(key), "", 1)
		if v.Class != class || v.Retryable != class.Retryable() || !strings.Contains(v.Rule, key) {
			t.Errorf("%s: %s by %s, want %s", key, v.Class, v.Rule, class)
		}
		if v.Evidence == "" {
			t.Errorf("%s: no evidence", key)
		}
	}
}

func TestByAPIError(t *testing.T) {
	byField(t, byAPIError, func(key string) string { return failed("something", `,"api_error":`+quoted(key)) })
}

func TestByType(t *testing.T) {
	byField(t, byType, func(key string) string { return failed("something", `,"api_error_type":`+quoted(key)) })
}

func TestByError(t *testing.T) {
	byField(t, byError, func(key string) string {
		return line(`"type":"assistant","error":`+quoted(key)+`,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"something"}]}`) + failed("something")
	})
}

// A stream may end with the complaint alone.
func TestByError_NoResult(t *testing.T) {
	byField(t, byError, func(key string) string {
		return line(`"type":"system","subtype":"init"`) + line(`"type":"assistant","error":`+quoted(key)+`,"message":{"id":"x","model":"<synthetic>","content":[{"type":"text","text":"something"}]}`)
	})
}

func TestByTerminal(t *testing.T) {
	byField(t, byTerminal, func(key string) string { return failed("something", `,"terminal_reason":`+quoted(key)) })
	// A hook that stops a run looks like a success.
	v := judged(line(`"type":"result","subtype":"success","is_error":false,"result":"","terminal_reason":"hook_stopped"`), "", 0)
	if v.Class != verdict.Blocked {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}

func TestBySubtype(t *testing.T) {
	byField(t, bySubtype, func(key string) string {
		return line(`"type":"result","subtype":` + quoted(key) + `,"is_error":true,"errors":["something"]`)
	})
	// 2.0.77 and before: exit 0, and no error.
	v := judged(line(`"type":"result","subtype":"error_max_turns","is_error":false,"errors":[],"num_turns":3`), "", 0)
	if v.Class != verdict.LimitReached {
		t.Errorf("%s by %s", v.Class, v.Rule)
	}
}

func TestStatuses(t *testing.T) {
	want := map[int]verdict.Class{400: verdict.InvalidRequest, 401: verdict.Auth, 402: verdict.Billing, 403: verdict.Auth, 404: verdict.NotFound,
		408: verdict.ServerError, 409: verdict.InvalidRequest, 413: verdict.TooLarge, 422: verdict.InvalidRequest, 429: verdict.RateLimit,
		500: verdict.ServerError, 502: verdict.ServerError, 503: verdict.ServerError, 504: verdict.ServerError, 529: verdict.Overloaded}
	for status, class := range want {
		if v := judged(failed("something", fmt.Sprintf(`,"api_error_status":%d`, status)), "", 1); v.Class != class {
			t.Errorf("%d: %s by %s, want %s", status, v.Class, v.Rule, class)
		}
	}
	for _, text := range []string{"The service is overloaded", "we are AT CAPACITY"} {
		if v := judged(failed(text, `,"api_error_status":503`), "", 1); v.Class != verdict.Overloaded {
			t.Errorf("%q: %s by %s", text, v.Class, v.Rule)
		}
	}
	for _, status := range []string{"null", "200", "0", "600", `"none"`} {
		if v := judged(failed("something", `,"api_error_status":`+status), "", 1); v.Class != verdict.Unknown || v.Retryable {
			t.Errorf("%s: %s by %s", status, v.Class, v.Rule)
		}
	}
}

// Structure goes before words, and the more exact before the vaguer.
func TestJudge_Order(t *testing.T) {
	for _, c := range []struct {
		name  string
		line  string
		class verdict.Class
	}{
		{"api_error before all", failed("API Error: 500 x", `,"api_error":"usage_limit_reached","api_error_type":"rate_limit_error","api_error_status":429`), verdict.UsageLimit},
		{"an api_error nobody knows", failed("API Error: 500 x", `,"api_error":"brand_new"`), verdict.ServerError},
		{"words before a type", failed("Credit balance is too low", `,"api_error_type":"invalid_request_error","api_error_status":400`), verdict.Billing},
		{"a type before a status", failed("something", `,"api_error_type":"overloaded_error","api_error_status":500`), verdict.Overloaded},
		{"a status before a word", line(`"type":"assistant","error":"server_error","message":{"model":"<synthetic>"}`) + failed("something", `,"api_error_status":429`), verdict.RateLimit},
		{"repeated 529 without a status", line(`"type":"assistant","error":"server_error","message":{"model":"<synthetic>"}`) + failed("API Error: Repeated 529 Overloaded errors. The API is at capacity", `,"api_error_status":null`), verdict.Overloaded},
		{"rejected with a reset", line(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794718800,"rateLimitType":"five_hour"}`) + failed("something new", `,"api_error_status":429`), verdict.UsageLimit},
		{"rejected without a reset", line(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected"}`) + failed("API Error: Server is temporarily limiting requests (not your usage limit)", `,"api_error_status":429`), verdict.RateLimit},
		{"rejected, and allowed again", line(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794718800,"rateLimitType":"five_hour"}`) +
			line(`"type":"rate_limit_event","rate_limit_info":{"status":"allowed","resetsAt":1794718800,"rateLimitType":"five_hour"}`) + failed("API Error: Connection error."), verdict.Network},
		{"a warning is none", line(`"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1794718800,"rateLimitType":"five_hour"}`) + failed("something", `,"api_error_status":429`), verdict.RateLimit},
		{"nothing known", failed("something"), verdict.Unknown},
	} {
		if v := judged(c.line, "", 1); v.Class != c.class {
			t.Errorf("%s: %s by %s, want %s", c.name, v.Class, v.Rule, c.class)
		}
	}
}

// The reset is an absolute time where claude has one.
func TestJudge_Reset(t *testing.T) {
	v := judged(line(`"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1794718800,"rateLimitType":"seven_day"}`)+
		failed("You've hit your weekly limit · resets 5am (UTC)", `,"api_error_status":429`), "", 1)
	if want := time.Unix(1794718800, 0); !v.Hint.At.Equal(want) {
		t.Errorf("%v, want %v", v.Hint.At, want)
	}
	if v := judged("Claude AI usage limit reached|1794718800\n", "", 1); !v.Hint.At.Equal(time.Unix(1794718800, 0)) {
		t.Errorf("%v", v.Hint)
	}
	if v := judged("API Error: 400 You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.\n", "", 1); !v.Hint.At.Equal(time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)) || v.Hint.Inferred {
		t.Errorf("%v", v.Hint)
	}
	if v := judged("Session limit reached ∙ resets 3:52am\n", "", 1); v.Hint.IsZero() {
		t.Error("no time to come back")
	}
}
