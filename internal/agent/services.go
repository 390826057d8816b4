package agent

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/belay-run/belay/verdict"
)

// A CLI passes on what the service behind it says, and that is often another one than its vendor's: GLM behind claude, a gateway
// before codex. This table has the codes and words of those services, wherever they are met, and every profile asks it before
// its own rules. Each row says where its words are from; docs/agents.md lists the services.
//
// Order matters: money and plans that are used up come with the 429 of a throttle.
var services = Rules{Table: []verdict.Rule{
	// MiniMax: github.com/MiniMax-AI/MiniMax-M2/issues/62, MiniMax-M2.7/issues/36. Its balance comes with a 500.
	{Name: "minimax-balance", Class: verdict.Billing, Match: `insufficient balance \(1008\)`},
	{Name: "minimax-plan", Class: verdict.UsageLimit, Match: `usage limit exceeded.*\(2056\)|usage limit reached for token plan`},
	{Name: "minimax-policy", Class: verdict.Refused, Match: `sensitive\b.*\((1026|1027)\)`},
	// Ollama, on this machine (server/routes.go, a 500) and its cloud: github.com/continuedev/continue/issues/9233, 11444, NousResearch/hermes-agent/pull/68832.
	{Name: "ollama-memory", Class: verdict.InvalidRequest, Match: `model requires more system memory \(`},
	{Name: "ollama-limit", Class: verdict.UsageLimit, Match: `\breached your (session|hourly|daily|weekly|monthly) usage limit`},
	{Name: "ollama-model", Class: verdict.NotFound, Match: `\bmodel .* not found, try pulling it first`},
	{Name: "ollama-busy", Class: verdict.Overloaded, Match: `server busy, please try again\.\s+maximum pending requests exceeded`},

	// GLM: docs.z.ai/api-reference/api-code, docs.bigmodel.cn/cn/api/api-code; github.com/dirge-code/dirge/issues/818, zai-org/GLM-5/issues/49.
	{Name: "glm-limit", Class: verdict.UsageLimit, Match: `usage limit reached for \d+ (hour|day|week|month)|\blimit will reset at \d{4}-\d\d-\d\d |(weekly|monthly)/?(monthly)? limit exhausted|使用上限.{0,20}限额将|已达今日调用次数限额`},
	{Name: "glm-balance", Class: verdict.Billing, Match: `insufficient balance or no resource package|余额不足|账户已欠费|无可用资源包`},
	{Name: "glm-plan", Class: verdict.Billing, Match: `GLM coding plan .{0,40}expired|套餐已到期|当前订阅套餐暂未开放|current subscription plan does not (yet )?(include|have|support)`},
	{Name: "glm-policy", Class: verdict.Refused, Match: `potentially unsafe or sensitive content|不安全或敏感内容`},
	{Name: "glm-length", Class: verdict.TooLarge, Match: `\bprompt exceeds (the )?max(imum)? (context )?length|prompt 超长`},
	{Name: "glm-busy", Class: verdict.Overloaded, Match: `service may be temporarily overloaded|当前访问量过大`},
	{Name: "glm-throttle", Class: verdict.RateLimit, Match: `并发数过高|达到速率限制|控制请求频率`},
	{Name: "glm-model", Class: verdict.NotFound, Match: `模型不存在|\bunknown model, please check the model code`},

	// Kimi: kimi.com/code/docs/en/kimi-code/error-reference.html, platform.kimi.ai/docs/api/errors; github.com/MoonshotAI/Kimi-K2/issues/5,
	// kimi-cli/issues/1599, kimi-code/issues/3014, openclaw/openclaw/pull/142656, anomalyco/opencode/issues/24462.
	{Name: "kimi-plan", Class: verdict.UsageLimit, Match: `you've reached your ([\w-]+ )?(\([\w-]+\) )?usage limit( for this (billing cycle|period))?\b|request reached organization TPD rate limit`},
	{Name: "kimi-balance", Class: verdict.Billing, Match: `\byour account\b.{0,200}(insufficient balance|exceeded current quota)|\bexceeded_current_quota_error\b|unable to verify your membership`},
	{Name: "kimi-policy", Class: verdict.Refused, Match: `request was rejected because it was considered high risk`},
	{Name: "kimi-length", Class: verdict.TooLarge, Match: `exceeded model token limit|input token length too long`},
	{Name: "kimi-busy", Class: verdict.Overloaded, Match: `engine is currently overloaded|\bengine_overloaded_error\b`},

	// DeepSeek: api-docs.deepseek.com/quick_start/error_codes.
	{Name: "deepseek-busy", Class: verdict.Overloaded, Match: `service is too busy\b`},
	{Name: "deepseek-policy", Class: verdict.Refused, Match: `^.{0,80}content exists risk\b`},

	// Qwen: help.aliyun.com/en/model-studio/error-code; github.com/QwenLM/qwen-code/issues/1742, anomalyco/opencode/issues/23722, where the quota of
	// tokens is one of a minute.
	{Name: "qwen-plan", Class: verdict.UsageLimit, Match: `\b(hour|week|month) allocated quota exceeded|token-plan.{0,60}quota has been exhausted`},
	{Name: "qwen-throttle", Class: verdict.RateLimit, Match: `error-code#token-limit|\bThrottling\.(RateQuota|BurstRate)\b|requests throttling triggered`},
	{Name: "qwen-balance", Class: verdict.Billing, Match: `\bArrearage\b|make sure your account is in good standing|free (tier|allocated quota).{0,60}(exhausted|exceeded)|\bFreeTierOnly\b`},
	{Name: "qwen-policy", Class: verdict.Refused, Match: `\bDataInspectionFailed\b|\b(input|output) (text )?data may contain inappropriate content`},
	{Name: "qwen-length", Class: verdict.TooLarge, Match: `range of input length should be \[`},
	{Name: "qwen-model", Class: verdict.NotFound, Match: `^.{0,80}\bmodel not exist\b`},

	// Volcengine's Ark: volcengine.com/docs/82379/1299023.
	{Name: "ark-plan", Class: verdict.UsageLimit, Match: `exceeded the [\w-]+ usage quota`},
	{Name: "ark-balance", Class: verdict.Billing, Match: `\bAccountOverdueError\b|your account has an overdue balance`},

	// Azure, and its API Management: github.com/MicrosoftDocs/azure-docs/issues/16282, alex-wolf-ps/dbchatprov2/issues/2, dyad-sh/dyad/issues/1950.
	{Name: "azure-quota", Class: verdict.UsageLimit, Match: `\bout of (call volume|bandwidth) quota\b`},
	{Name: "azure-throttle", Class: verdict.RateLimit, Match: `have exceeded (the )?(call|token) rate limit of your current`},
	{Name: "azure-policy", Class: verdict.Refused, Match: `content management policy|\bResponsibleAIPolicyViolation\b`},
	{Name: "azure-deployment", Class: verdict.NotFound, Match: `API deployment for this resource does not exist|\bDeploymentNotFound\b`},
	{Name: "azure-key", Class: verdict.Auth, Match: `access denied due to (missing|invalid) subscription key`},
	{Name: "azure-length", Class: verdict.TooLarge, Match: `request body too large for \S+ model|\btokens_limit_reached\b`},
	{Name: "azure-busy", Class: verdict.Overloaded, Match: `system is currently experiencing high demand`},

	// Bedrock: github.com/Ivy-Interactive/Ivy-Tendril/issues/1756, anthropics/claude-code/issues/1466, aws-samples/bedrock-chat/issues/95.
	{Name: "bedrock-day", Class: verdict.UsageLimit, Match: `too many tokens per day\b`},
	{Name: "bedrock-throttle", Class: verdict.RateLimit, Match: `\bThrottlingException\b|too many (tokens|requests), please wait before trying again`},
	{Name: "bedrock-length", Class: verdict.TooLarge, Match: `input is too long for (the )?requested model|exceed context limit: `},
	{Name: "bedrock-token", Class: verdict.Auth, Match: `security token included in the request is (expired|invalid)|\b(ExpiredToken|UnrecognizedClient)Exception\b`},
	{Name: "bedrock-model", Class: verdict.NotFound, Match: `provided model identifier is invalid`},
	{Name: "bedrock-payment", Class: verdict.Billing, Match: `\bINVALID_PAYMENT_INSTRUMENT\b`},

	// Vertex: github.com/anthropics/claude-code/issues/1440, yym68686/uni-api/issues/41. Its quotas are of a minute unless they say otherwise.
	{Name: "vertex-quota", Class: verdict.RateLimit, Match: `quota exceeded for aiplatform\.googleapis\.com/`},
	{Name: "vertex-model", Class: verdict.NotFound, Match: `\bpublisher model\b.{0,200}\bnot found\b|not allowed to use publisher model`},
	{Name: "vertex-login", Class: verdict.Auth, Match: `\binvalid_(grant|rapt)\b`},
	// Google: ai.google.dev/gemini-api/docs/troubleshooting; github.com/googlecodelabs/feedback/issues/2088, router-for-me/CLIProxyAPI/issues/3655.
	{Name: "google-busy", Class: verdict.Overloaded, Match: `this model is currently experiencing high demand|\bthe model is overloaded\b`},
	{Name: "google-plan", Class: verdict.UsageLimit, Match: `(Requests|Tokens)PerDay|\bindividual quota reached\b|exhausted your (daily quota|capacity on this model)|quota will reset after`},
	{Name: "google-quota", Class: verdict.RateLimit, Match: `ai\.google\.dev/gemini-api/docs/rate-limits|resource has been exhausted \(e\.g\. check quota\)|exceeded your current quota[^"]{0,400}\bplease retry in \d`},
	{Name: "google-billing", Class: verdict.Billing, Match: `\bbilling (to be|is|account|has)\b[\w ]*\b(disabled|enabled|required|closed|inactive)\b|\benable billing\b`},
	{Name: "google-key", Class: verdict.Auth, Match: `\bAPI key (is )?(not valid|expired|not found|was reported)|invalid authentication credentials|\bAPI_KEY_INVALID\b|user location is not supported`},
	{Name: "google-length", Class: verdict.TooLarge, Match: `token count[\w ()]* exceeds|exceeds the maximum number of tokens`},
	{Name: "google-model", Class: verdict.NotFound, Match: `is not found for API version`},

	// OpenRouter: github.com/anomalyco/opencode/issues/12219, Gitlawb/openclaude/issues/936, BerriAI/litellm/issues/37592; openrouter.ai/docs/api/reference/errors.
	{Name: "openrouter-day", Class: verdict.UsageLimit, Match: `\bfree-models-per-day`},
	{Name: "openrouter-credits", Class: verdict.Billing, Match: `requires more credits, or fewer max_tokens|insufficient credits\b|\bcan only afford \d|\bkey limit exceeded\b|prompt tokens limit exceeded: \d`},
	{Name: "openrouter-policy", Class: verdict.Refused, Match: `requires moderation on |your (chosen model|input).{0,80}was flagged for`},
	{Name: "openrouter-model", Class: verdict.NotFound, Match: `no endpoints found|no allowed providers are available|\bis not a valid model ID\b`},
	{Name: "openrouter-upstream", Class: verdict.RateLimit, Match: `temporarily rate-limited upstream`},

	// LiteLLM: github.com/BerriAI/litellm/issues/14144, 13898; docs.litellm.ai/docs/proxy/users.
	{Name: "litellm-budget", Class: verdict.Billing, Match: `\bbudget has been exceeded\b|\bExceeded(Token)?Budget\b|\bcrossed budget\b|\bexceeded budget for\b|\bbudget_exceeded\b`},
	{Name: "litellm-key", Class: verdict.Auth, Match: `invalid proxy server token|\btoken_not_found_in_db\b|\b(key|team|user) not allowed to access model`},
	{Name: "litellm-throttle", Class: verdict.RateLimit, Match: `crossed TPM / RPM|max parallel request limit reached|no deployments available for selected model`},
	{Name: "litellm-model", Class: verdict.NotFound, Match: `invalid model name passed in model=|there is no 'model_name' with this string`},
	{Name: "litellm-policy", Class: verdict.Refused, Match: `\bContentPolicyViolationError\b`},

	// GitHub Copilot: github.com/microsoft/vscode-copilot-release/issues/12785, 12804, 13468, github/copilot-cli/issues/730, 2740, 2769, microsoft/vscode/issues/325598.
	{Name: "copilot-plan", Class: verdict.UsageLimit, Match: `exceeded your (copilot )?premium request (allowance|limit)|exhausted (your |the )?premium model quota|monthly limit for premium requests|(out of|remaining quota for) premium requests|\byou have no quota\b|used all your copilot \w+ .{0,20}requests|run out of your included AI credits|(reached|hit|exceeded) your (weekly|monthly|session) rate limits?\b|exceeded your \d+[ -]hour session limits?\b|\b(free_)?quota_exceeded\b|\boverage_limit_reached\b|\buser_(weekly|monthly)_rate_limited\b`},
	{Name: "copilot-policy", Class: verdict.Auth, Match: `forbidden by your organization policy`},
	{Name: "copilot-model", Class: verdict.NotFound, Match: `\bmodel_not_supported\b|the requested model is not supported`},

	// OpenCode's own service, Zen.
	{Name: "zen-plan", Class: verdict.UsageLimit, Match: `\b(Go|Free)UsageLimitError\b|free usage exceeded|subscription quota exceeded`},

	// xAI: github.com/continuedev/continue/issues/10373, 12670, Wei-Shaw/sub2api/issues/4069.
	{Name: "xai-credits", Class: verdict.Billing, Match: `used all available credits or reached its monthly spending limit|doesn't have any credits or licenses|run out of credits\b|\bspending-limit\b`},
	{Name: "xai-limit", Class: verdict.UsageLimit, Match: `reached your free [\w ]{1,20} usage limit|\bfree-usage-exhausted\b|hit (your (free usage|weekly|monthly|daily) limit|the credit limit for your plan)`},
	{Name: "xai-policy", Class: verdict.Refused, Match: `content violates usage guidelines`},
	// Mistral: github.com/continuedev/continue/issues/6185, BerriAI/litellm/pull/25078. Groq: console.groq.com/docs/errors; github.com/continuedev/continue/issues/10218.
	{Name: "mistral-model", Class: verdict.NotFound, Match: `^.{0,80}\binvalid model: `},
	{Name: "mistral-length", Class: verdict.TooLarge, Match: `too large for model with \d+ maximum context length`},
	{Name: "mistral-busy", Class: verdict.Overloaded, Match: `service tier capacity exceeded|\bservice_tier_capacity_exceeded\b`},
	{Name: "groq-length", Class: verdict.TooLarge, Match: `request too large for model `},
	{Name: "groq-model", Class: verdict.NotFound, Match: `\bmodel_decommissioned\b|model .* has been decommissioned`},
	{Name: "groq-busy", Class: verdict.Overloaded, Match: `model .{1,80} is (currently )?over capacity`},
	// Hugging Face: huggingface.co/docs/inference-providers/pricing.
	{Name: "huggingface-credits", Class: verdict.Billing, Match: `exceeded your monthly included credits`},

	// Cerebras: inference-docs.cerebras.ai/support/error. Fireworks, SiliconFlow, DeepInfra, Novita: what their users report.
	{Name: "cerebras-day", Class: verdict.UsageLimit, Match: `\b(tokens|requests) per (day|hour) limit exceeded|\btoken_quota_exceeded\b`},
	{Name: "cerebras-busy", Class: verdict.Overloaded, Match: `experiencing high traffic right now|\bqueue_exceeded\b`},
	{Name: "balance", Class: verdict.Billing, Match: `is suspended, possibly due to reaching the monthly spending limit|account balance is insufficient|^.{0,80}\bcredit limit exceeded\b|please enter a payment method|\bNOT_ENOUGH_BALANCE\b|^.{0,40}\binsufficient (balance|funds)\b`},

	// The vendors themselves, behind another's CLI. Google and Qwen have the words of OpenAI's quota for a throttle.
	{Name: "openai-quota", Class: verdict.Billing, Match: `\binsufficient_quota\b|exceeded your current quota, please check your plan and billing details`},
	{Name: "openai-billing", Class: verdict.Billing, Match: `account is not active, please check your billing|billing hard limit has been reached|\bbilling_(not_active|hard_limit_reached)\b`},
	{Name: "openai-policy", Class: verdict.Refused, Match: `flagged as potentially violating our usage policy|rejected as a result of our safety system`},
	{Name: "openai-busy", Class: verdict.Overloaded, Match: `\bserver_is_overloaded\b|\b(servers? (is|are)|model is) (currently )?overloaded\b`},
	{Name: "openai-server", Class: verdict.ServerError, Match: `\bthe server had an error\b`},
	{Name: "openai-model", Class: verdict.NotFound, Match: `\bmodel ["'\x60]?[\w./:@-]{1,100}["'\x60]? does not exist|^.{0,120}\bdoes not have access to model\b`},
	{Name: "anthropic-plan", Class: verdict.UsageLimit, Match: `reached your specified ([\w -]+ )?usage limits?`},
	{Name: "anthropic-policy", Class: verdict.Refused, Match: `blocked by content filtering policy`},
	{Name: "openai-length", Class: verdict.TooLarge, Match: `request too large for \S+ in organization `}, // which comes with a 429 each time
	{Name: "openai-plan", Class: verdict.UsageLimit, Match: `\busage_limit_reached\b|^.{0,80}\bthe usage limit has been reached\b`},
	{Name: "credit", Class: verdict.Billing, Match: `credit balance is too low\b|\bplease recharge your account\b`},
	{Name: "account", Class: verdict.Auth, Match: `account associated with this API key has been deactivated|OAuth authentication is currently not allowed|this organization has been disabled|^.{0,80}incorrect API key provided`},

	// vLLM: github.com/vllm-project/vllm/issues/20409, 12165, 33425. llama.cpp: ggml-org/llama.cpp/pull/15780. LM Studio: lmstudio-ai/lmstudio-bug-tracker/issues/546, cline/cline/issues/3664.
	{Name: "context", Class: verdict.TooLarge, Match: `maximum (context|prompt) length (is|of) [\d,]+|longer than the maximum model length|too long to fit into the model|prompt is too long\b.*maximum|exceeds maximum context length|exceeds the (available context size|context window)\b|\bexceed_context_size_error\b|context size has been exceeded|with (a )?context length of only \d|greater than the context length|\bContextWindowExceededError\b|context window exceeds limit|reduce the length of the (messages|prompt)|\bcontext_length_exceeded\b|` + "`inputs`" + ` tokens \+ .{0,40} must be <=`},

	// A body that is no JSON has half of a letter in it: it is the history that says so, each time (claude-code/issues/1709).
	{Name: TornBody, Class: verdict.InvalidRequest, Match: `request body is not valid JSON|no low surrogate in string|invalid (high|low) surrogate|surrogates not allowed`},

	// Gateways. Cloudflare: developers.cloudflare.com/support/troubleshooting/http-status-codes/cloudflare-1xxx-errors. Kong: developer.konghq.com/gateway/. nginx's own pages.
	{Name: "cloudflare-throttle", Class: verdict.RateLimit, Match: `\berror code: ?1015\b|^.{0,40}you are being rate limited`},
	{Name: "cloudflare-block", Class: verdict.Auth, Match: `\berror code: ?(100[5-9]|1010|1012|1020)\b|\bsorry, you have been blocked\b`},
	{Name: "cloudflare-origin", Class: verdict.ServerError, Match: `\berror code: ?(10(00|16|18|33)|52\d|530|502|504)\b`},
	{Name: "kong-throttle", Class: verdict.RateLimit, Match: `\b(API|AI token) rate limit exceeded`},
	{Name: "kong-route", Class: verdict.NotFound, Match: `\bno route matched with those values`},
	{Name: "kong-upstream", Class: verdict.ServerError, Match: `failure to get a peer from the ring-balancer|invalid response was received from the upstream server|upstream server is timing out`},
	{Name: "nginx-missing", Class: verdict.NotFound, Match: `^(404 )?not found\.?$`},
	{Name: "http-425", Class: verdict.ServerError, Match: `^too early\b`},
	{Name: "kong-key", Class: verdict.Auth, Match: `\bno API key found in request`},
}}

// glmCodes are the codes of GLM, which tell more than the status of its answers: most come with a 429.
var glmCodes = Classes{
	verdict.Auth:           "1000 1001 1002 1003 1004 1110 1111 1112 1121 1220",
	verdict.Billing:        "1113 1309 1311",
	verdict.UsageLimit:     "1304 1308 1310 1316",
	verdict.RateLimit:      "1302 1303",
	verdict.Overloaded:     "1305 1312",
	verdict.Refused:        "1300 1301",
	verdict.NotFound:       "1211 1221 1222",
	verdict.TooLarge:       "1261",
	verdict.InvalidRequest: "1210 1212 1213 1214 1215",
	verdict.ServerError:    "1120 1200 1230 1234",
}

// TornBody is the rule about a request that is no valid JSON. Where a session was resumed, it is in the history.
const TornBody = "json-body"

// despite500 are the rows that hold although the service says that the fault is its own.
var despite500 = []string{"minimax-balance", "ollama-memory"}

var (
	// glmCode finds such a code: "code":"1308", or [1308][…].
	glmCode = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:"code\\*" ?: ?\\*"|^\W{0,3}\[|: \[)(1[0-3]\d\d)(?:\\*"|\])`)
	})
	// dated finds a time that has its date, and perhaps no zone.
	dated = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d`) })
	// beijing is the zone of the times that services in China tell without one.
	beijing = time.FixedZone("UTC+8", 8*3600)
)

// OfService says what an error means in the words of the service that the CLI has passed on, with that HTTP status, or 0 if none is known. The text is
// the error alone: what a model has said is no evidence. ok is false where no service is known to say that.
func OfService(text string, status int, now time.Time) (v verdict.Verdict, ok bool) {
	o := verdict.Outcome{ExitCode: 1, Stderr: verdict.ExcerptOf(text)}
	if v, ok = services.Judge(o, now); !ok {
		m := glmCode().FindStringSubmatch(text)
		if m == nil {
			return v, false
		}
		class, known := glmCodes.Of(m[1])
		v = verdict.Verdict{Class: class, Retryable: class.Retryable(), Rule: "glm-" + m[1], Evidence: Evidence(text)}
		if ok = known; !ok {
			return verdict.Verdict{}, false
		}
	}
	switch {
	case status >= 500 && v.Class != verdict.Overloaded && v.Class != verdict.ServerError && !slices.Contains(despite500, v.Rule),
		status == 429 && v.Class == verdict.ServerError:
		return verdict.Verdict{}, false // whatever it writes into its page
	}
	if v.Retryable || v.Class.Throttle() {
		v.Hint, _ = verdict.ParseHint(text, now)
		if name, _, _ := strings.Cut(v.Rule, "-"); v.Hint.Inferred && slices.Contains([]string{"glm", "kimi", "qwen", "ark", "minimax"}, name) && dated().MatchString(text) {
			v.Hint, _ = verdict.ParseHint(text, now.In(beijing))
			v.Hint.Inferred = false
		}
	}
	return v, true
}
