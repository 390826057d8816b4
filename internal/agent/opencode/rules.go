package opencode

import (
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/verdict"
)

// rules tell failures apart by what is said of them. They are asked about messages of errors, opencode's own and those of the
// services that it passes on, never about what the model or a tool has said.
//
// Order matters: the words of a limit go before those of a mere throttle.
var rules = agent.Rules{Table: ruleTable}

var ruleTable = []verdict.Rule{
	// Another opencode writes to the database that they share. Nothing has been asked for yet, and soon it is free.
	{Name: "database-locked", Class: verdict.SessionBusy, Match: `^((error: )?unexpected error\s+)?(sqliteerror: )?database is locked\b`},
	// It may be anything inside opencode. The log says what.
	{Name: "inside", Class: verdict.Unknown, Match: `^(error: |\s*"message": ")?unexpected (server )?error\b`},

	// The history, in the words of the service that rejects it.
	{Name: "history", Class: verdict.SessionBroken, Match: "`tool_use` ids (were found without|must be unique)|unexpected `tool_use_id` found in|tool_use must have a single result|invalid `signature` in `thinking`|`thinking` or `redacted_thinking` blocks .*cannot be modified|messages[.:].*(text content blocks must be non-empty|messages must have non-empty content|image dimensions exceed|image exceeds)|^no tool (output|call) found for function call|^duplicate item found with id|encrypted content .* could not be verified|image data you provided does not represent a valid image|number of function response parts is equal"},

	// Limits and money.
	{Name: "usage-limit", Class: verdict.UsageLimit, Match: `usage limit (has been )?reached|you've (hit|reached) your (\S+ )?usage limit|monthly usage limit|weekly usage limit`},
	{Name: "credits", Class: verdict.Billing, Match: `credit balance is too low|out of credits|insufficient (credits|balance|funds)|\bCreditsError\b|no payment method|add (more )?credits|prepayment credits are depleted|payment required|billing hard limit`},
	{Name: "quota", Class: verdict.Billing, Match: `quota exceeded|exceeded your current quota|insufficient_quota|check your plan and billing`},
	{Name: "plan", Class: verdict.Billing, Match: `to use codex with your chatgpt plan|usage (is )?not included`},

	// What opencode says of itself before anything is sent.
	{Name: "no-session", Class: verdict.SessionNotFound, Match: `^(error: )?session not found|^(error: )?session .*\bnot found\b|^notfounderror\b.*session|^\s*message: "session not found`},
	{Name: "model", Class: verdict.NotFound, Match: "\\bProviderModelNotFoundError\\b|^(error: )?model not found|^(error: )?no models? (found|available)|\\bmodel [`'\"]?[^ ]+[`'\"]? (does not exist|was not found|not found|is not available|is not supported)|does not exist or you do not have access"},
	{Name: "provider", Class: verdict.Auth, Match: `\bProvider(Init|Auth)Error\b|failed to initialize provider|api key is missing|no api key|missing api key|loadapikeyerror`},
	{Name: "config", Class: verdict.InvalidRequest, Match: `^(error: )?config(uration)? (file )?(at .* )?is (not valid|invalid)|\bConfig(Json|Invalid|Frontmatter|DirectoryTypo)Error\b|is not valid json\(c\)`},
	{Name: "prompt", Class: verdict.InvalidRequest, Match: `^(error: )?you must provide a message or a command|^(error: )?--fork requires|^(error: )?file not found: |^(error: )?failed to change directory|--(mini|replay-limit|interactive)\b.* (cannot|must|requires)|^(error: )?command not found`},
	{Name: "usage", Class: verdict.InvalidRequest, Match: `^opencode run \[message\.\.\]$|^(error: )?(unknown arguments?: |not enough (non-option )?arguments|invalid values:)`},

	// The service does not want it.
	{Name: "context", Class: verdict.TooLarge, Match: `context (window|length)|maximum context|(prompt|input|request) (is )?too (long|large)|too many tokens|input token count|exceeds the (maximum|available)|request entity too large|reduce the length`},
	{Name: "policy", Class: verdict.Refused, Match: `content[ _-]?(filter|policy|management)|violat\w+ (our|the) (usage )?polic|flagged (as|for)|safety (system|settings|filter)|prohibited content`},
	{Name: "api-key", Class: verdict.Auth, Match: `incorrect api key|invalid (api[ -]?key|x-api-key|authentication|bearer)|(api key|token) (is |has )?(invalid|not valid|expired|been revoked)|unauthorized|unauthenticated|authentication_error|authentication (failed|required)|permission[_ ]denied|forbidden|not logged in|(do|does) not have (access|permission) to\b|token (refresh failed|expired)|country, region, or territory not supported`},

	// Throttles and trouble.
	{Name: "overloaded", Class: verdict.Overloaded, Match: `\boverloaded\b|server_is_overloaded|at capacity|capacity (is )?(unavailable|exceeded)|experiencing high (load|demand)|high demand`},
	{Name: "rate-limit", Class: verdict.RateLimit, Match: `rate[ _-]?limit|too many requests|too_many_requests|rate increased too quickly|resource (has been )?exhausted|resource_exhausted|concurrency limit`},
	{Name: "timeout", Class: verdict.Timeout, Match: `(headers?|request|response|operation|connection|stream|read) timed? ?out|timed out (after|waiting)|ETIMEDOUT|^timeout$|ProviderHeaderTimeoutError`},
	{Name: "malformed", Class: verdict.BadOutput, Match: `json pars(e|ing) (error|failed)|type validation failed|invalid json response|response decompression failed|unexpected (token|end of json)|failed to parse|no output generated`},
	{Name: "network", Class: verdict.Network, Match: `cannot connect to api|unable to connect|socket (connection was closed|hang up)|connection (refused|reset|closed|lost|error|terminated)|ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EPIPE|fetch failed|failed to fetch|network (error|connection lost)|getaddrinfo|terminated|upstream connect|was there a typo in the url|no route to host|certificate`},
	{Name: "server-error", Class: verdict.ServerError, Match: `server (had an )?error|internal (server )?error|server_error|service unavailable|service_unavailable|temporarily un(available|able)|bad gateway|gateway time-?out|provider returned error|an error occurred while processing|try your request again|retry your request`},
	{Name: "bad-request", Class: verdict.InvalidRequest, Match: `^(bad request|unprocessable entity)\b|invalid_request_error|^invalid (value|parameter|argument)|unsupported (value|parameter)`},
}

// codes are what the body of an answer calls an error, beyond what all services do: Anthropic's, Google's and OpenCode's own.
var codes = agent.Classes{
	verdict.NotFound:    "ModelError",
	verdict.Billing:     "billing_error CreditsError",
	verdict.UsageLimit:  "MonthlyLimitError GoUsageLimitError FreeUsageLimitError SubscriptionUsageLimitError",
	verdict.RateLimit:   "RateLimitError RESOURCE_EXHAUSTED",
	verdict.ServerError: "api_error",
	verdict.Auth:        "AuthError UNAUTHENTICATED",
}
