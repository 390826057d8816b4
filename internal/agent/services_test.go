package agent

import (
	"testing"
	"time"

	"github.com/belay-run/belay/verdict"
)

// What services say, as people have met it; the sources stand beside the rows.
func TestOfService(t *testing.T) {
	now := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	known := map[string]bool{}
	for _, c := range []struct {
		rule   string
		status int
		text   string
	}{
		{"minimax-balance", 500, `{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}`},
		{"minimax-plan", 429, "usage limit exceeded, 5-hour usage limit reached for Token Plan Starter (0/0 used), resets at 2026-11-18T15:00:00Z (2056)"},
		{"minimax-policy", 400, "input new_sensitive (1026)"},
		{"ollama-memory", 500, "model requires more system memory (5.6 GiB) than is available (3.1 GiB)"},
		{"ollama-limit", 429, "you (keshavpandey462) have reached your session usage limit, please wait or upgrade to continue"},
		{"ollama-limit", 429, "you've reached your weekly usage limit, please wait or upgrade to continue"},
		{"ollama-model", 404, `model "qwen3-coder" not found, try pulling it first`},
		{"ollama-busy", 503, "server busy, please try again.  maximum pending requests exceeded"},
		{"glm-limit", 429, "Usage limit reached for 5 hour. Your limit will reset at 2026-11-18 05:23:03"},
		{"glm-limit", 429, "Weekly/Monthly Limit Exhausted. Your limit will reset at 2026-11-24 10:00:00"},
		{"glm-limit", 429, "已达到 5\n小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。"},
		{"glm-limit", 429, "您已达到每周/每月使用上限,您的限额将在 2026-11-24 10:00:00 重置"},
		{"glm-balance", 429, "Insufficient balance or no resource package. Please recharge."},
		{"glm-balance", 429, "余额不足或无可用资源包,请充值。"},
		{"glm-plan", 429, "您的 GLM Coding Plan 套餐已到期,暂无法使用"},
		{"glm-plan", 429, "Your GLM Coding Plan package has expired and is temporarily unavailable."},
		{"glm-plan", 429, "Your current subscription plan does not yet include access to GLM-5"},
		{"glm-policy", 400, "System detected potentially unsafe or sensitive content in input or generation."},
		{"glm-length", 400, "Prompt exceeds max length"},
		{"glm-busy", 429, "The service may be temporarily overloaded, please try again later"},
		{"glm-busy", 429, "该模型当前访问量过大,请您稍后再试"},
		{"glm-model", 400, "Unknown Model, please check the model code."},
		{"glm-throttle", 429, "您当前使用该API的并发数过高，请降低并发，或联系客服增加限额。"},
		{"google-quota", 429, "Resource has been exhausted (e.g. check quota)."},
		{"glm-1113", 429, `{"error":{"code":"1113","message":"?"}}`},
		{"glm-1308", 429, `API Error: 429 {"type":"error","error":{"code": "1308"}}`},
		{"glm-1302", 429, `[1302][High concurrency usage of this API][2026111805]`},
		{"kimi-plan", 403, "You've reached your usage limit for this billing cycle. Your quota will be refreshed in the next cycle."},
		{"kimi-plan", 403, "You've reached your weekly (7-day) usage limit. Your quota will reset when the current 7-day window ends."},
		{"kimi-plan", 429, "Your account org-1 / proj-2 <ak-3> request reached organization TPD rate limit, current: 1526210, limit: 1500000"},
		{"kimi-balance", 429, "Your account org-1 is not active, current state: insufficient balance, please check your plan and billing details"},
		{"kimi-balance", 429, "Your account org-446a <ak-f8> is suspended due to insufficient balance, please recharge your account or check your plan"},
		{"kimi-balance", 403, "Your account xx> is not active, organization <xx> exceeded current quota, please check your plan and billing details"},
		{"kimi-policy", 400, "The request was rejected because it was considered high risk"},
		{"kimi-length", 400, "Invalid request: Your request exceeded model token limit: 262144"},
		{"kimi-busy", 429, "The engine is currently overloaded, please try again later"},
		{"deepseek-busy", 503, "Service is too busy. We advise users to temporarily switch to alternative LLM API service providers."},
		{"deepseek-policy", 400, "Content Exists Risk"},
		{"qwen-throttle", 429, "You exceeded your current quota, please check your plan and billing details. For details, see: https://help.aliyun.com/zh/model-studio/error-code#token-limit"},
		{"qwen-throttle", 429, "Throttling.RateQuota: Requests rate limit exceeded, please try again later."},
		{"qwen-plan", 429, "hour allocated quota exceeded"},
		{"qwen-balance", 429, "Free allocated quota exceeded."},
		{"qwen-balance", 403, "The free tier of the model has been exhausted. If you wish to continue access the model on a paid basis, please disable the \"use free tier only\" mode"},
		{"qwen-balance", 400, "Access denied, please make sure your account is in good standing."},
		{"qwen-policy", 400, "Output data may contain inappropriate content."},
		{"qwen-length", 400, "Range of input length should be [1, 98304]"},
		{"qwen-model", 404, "Model not exist."},
		{"ark-plan", 429, "You have exceeded the 5-hour usage quota. It will reset at 2026-11-18 05:23:03 +0800 CST."},
		{"ark-balance", 403, "AccountOverdueError: The request failed because your account has an overdue balance."},
		{"azure-quota", 403, "Out of call volume quota. Quota will be replenished in 02:12:45."},
		{"azure-throttle", 429, "Requests to the Creates a completion for the chat message Operation under Azure OpenAI API version 2023-03-15-preview have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 7 seconds."},
		{"azure-policy", 400, "The response was filtered due to the prompt triggering Azure OpenAI's content management policy."},
		{"azure-deployment", 404, "The API deployment for this resource does not exist."},
		{"azure-key", 401, "Access denied due to invalid subscription key or wrong API endpoint."},
		{"azure-length", 413, "Request body too large for gpt-5-mini model. Max size: 4000 tokens."},
		{"azure-busy", 429, "The system is currently experiencing high demand and cannot process your request."},
		{"bedrock-day", 429, "Too many tokens per day, please wait before trying again."},
		{"bedrock-throttle", 429, "Too many tokens, please wait before trying again."},
		{"bedrock-length", 400, "The model returned the following errors: Input is too long for requested model."},
		{"bedrock-token", 403, "The security token included in the request is expired"},
		{"bedrock-payment", 403, "Model access is denied due to INVALID_PAYMENT_INSTRUMENT: A valid payment instrument must be provided."},
		{"vertex-quota", 429, "Quota exceeded for aiplatform.googleapis.com/online_prediction_input_tokens_per_minute_per_base_model with base model: anthropic-claude-opus-4."},
		{"vertex-model", 404, "Publisher Model `projects/p/locations/us-east5/publishers/anthropic/models/claude-x` was not found or your project does not have access to it."},
		{"vertex-login", 401, `{"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)"}`},
		{"google-busy", 503, "This model is currently experiencing high demand. Spikes in demand are usually temporary."},
		{"google-busy", 503, "The model is overloaded. Please try again later."},
		{"google-plan", 429, "Individual quota reached. Contact your administrator to enable overages. Resets in 108h48m29s."},
		{"google-plan", 429, `{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaValue":"250"}`},
		{"google-quota", 429, "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."},
		{"google-quota", 429, "You exceeded your current quota, please check your plan and billing details.\nPlease retry in 22.5s."},
		{"google-billing", 403, "This API method requires billing to be enabled. Please enable billing on project #1234"},
		{"google-key", 400, "API key not valid. Please pass a valid API key."},
		{"google-length", 400, "The input token count (1201442) exceeds the maximum number of tokens allowed (1048576)."},
		{"google-model", 404, "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."},
		{"mistral-model", 400, `{"object":"error","message":"Invalid model: mistral-nine","type":"invalid_model"}`},
		{"mistral-length", 400, "Prompt contains 40112 tokens and 0 draft tokens, too large for model with 32768 maximum context length"},
		{"cerebras-day", 429, "Tokens per day limit exceeded - too many tokens processed."},
		{"cerebras-busy", 429, "We're experiencing high traffic right now! Please try again soon."},
		{"balance", 412, "Account acme-1 is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices."},
		{"balance", 403, "Sorry, your account balance is insufficient"},
		{"balance", 402, "Insufficient Balance"},
		{"openai-quota", 429, "You exceeded your current quota, please check your plan and billing details."},
		{"openai-quota", 429, "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs"},
		{"openai-model", 403, "Project `proj_x1` does not have access to model `gpt-9`"},
		{"openai-billing", 429, "Your account is not active, please check your billing details on our website."},
		{"openai-billing", 400, "Billing hard limit has been reached"},
		{"openai-policy", 400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy."},
		{"openai-busy", 503, "The server is currently overloaded with other requests. Sorry about that!"},
		{"openai-busy", 503, "That model is currently overloaded with other requests. You can retry your request"},
		{"openai-server", 500, "The server had an error processing your request. Sorry about that!"},
		{"openai-model", 400, "The requested model 'Qwen/Nine' does not exist."},
		{"openai-plan", 429, "The usage limit has been reached"},
		{"anthropic-plan", 400, "You have reached your specified workspace API usage limits. You will regain access on 2026-12-01 at 00:00 UTC."},
		{"anthropic-policy", 400, "Output blocked by content filtering policy"},
		{"bedrock-model", 400, "The provided model identifier is invalid."},
		{"context", 400, "invalid params, context window exceeds limit (2013)"},
		{"google-length", 400, "prompt token count of 140112 exceeds the limit of 128000"},
		{"context", 400, "Please reduce the length of the messages or completion. Current length is 8714 while limit is 8192"},
		{"context", 422, "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 32769. Given: 40001 `inputs` tokens"},
		{"openrouter-day", 429, "Rate limit exceeded: free-models-per-day-high-balance."},
		{"openrouter-credits", 402, "This request requires more credits, or fewer max_tokens. You requested up to 32000 tokens, but can only afford 0."},
		{"openrouter-credits", 402, "Prompt tokens limit exceeded: 230799 > 91442."},
		{"openrouter-credits", 403, "Key limit exceeded (monthly limit)."},
		{"openrouter-policy", 403, "google/gemini requires moderation on OpenInference. Your input was flagged for \"violence\""},
		{"openrouter-model", 404, "No endpoints found that support tool use."},
		{"openrouter-upstream", 429, "deepseek/deepseek-r1:free is temporarily rate-limited upstream. Please retry shortly."},
		{"litellm-budget", 400, "Budget has been exceeded! Current cost: 10.2, Max budget: 10.0"},
		{"litellm-budget", 429, "LiteLLM User: engineer-1, exceeded budget for model=claude-opus-4-8"},
		{"litellm-key", 401, "Authentication Error, Invalid proxy server token passed. Received API Key = sk-...8aSP"},
		{"litellm-throttle", 429, "LiteLLM Rate Limit Handler for rate limit type = team. Crossed TPM / RPM / Max Parallel Request Limit."},
		{"litellm-model", 400, "/chat/completions: Invalid model name passed in model=gpt-9. Call `/v1/models` to view available models for your key."},
		{"litellm-policy", 400, "litellm.ContentPolicyViolationError: x"},
		{"copilot-plan", 402, "You have no quota (quota_exceeded)"},
		{"copilot-plan", 429, "You've exhausted your premium model quota. Please enable additional paid premium requests"},
		{"copilot-plan", 402, "402 You have no quota (Request ID: 0DAE:25E807:31A9BC6:3EB561C:69B79179)"},
		{"copilot-plan", 429, "Sorry, you've exceeded your weekly rate limit. Please review our Terms of Service."},
		{"copilot-plan", 429, "Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds. (user_global_rate_limited:pro)"},
		{"copilot-plan", 402, "You've used all your Copilot Free chat requests for the month"},
		{"copilot-policy", 403, `{"code":"model_not_supported","message":"Access to this model is forbidden by your organization policy"}`},
		{"copilot-model", 400, `{"error":{"message":"The requested model is not supported.","code":"model_not_supported"}}`},
		{"context", 400, "Your input exceeds the context window of this model. Please adjust your input and try again."},
		{"zen-plan", 429, "Subscription quota exceeded. You can continue using free models."},
		{"xai-credits", 429, "Your team 16f2151a has either used all available credits or reached its monthly spending limit."},
		{"xai-limit", 429, "You’ve reached your free Grok Build usage limit for now. Get SuperGrok for much higher limits, or try again later"},
		{"xai-policy", 403, "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"},
		{"openai-busy", 500, "server_is_overloaded: Our servers are currently overloaded. Please try again later."},
		{"openai-length", 429, "Request too large for gpt-4 in organization org-x on tokens per min (TPM): Limit 10000, Requested 15238. The input or output tokens must be reduced in order to run successfully."},
		{"openai-plan", 429, "usage_limit_reached: The usage limit has been reached"},
		{"mistral-busy", 429, "Service tier capacity exceeded for this model."},
		{"groq-length", 413, "Request too large for model `llama-3.3-70b-versatile` in organization `org_01`"},
		{"groq-model", 400, "The model `llama3-70b-8192` has been decommissioned and is no longer supported."},
		{"groq-busy", 503, "model `qwen-qwq-32b` is currently over capacity"},
		{"huggingface-credits", 402, "You have exceeded your monthly included credits for Inference Providers."},
		{"credit", 400, "Your credit balance is too low to access the Anthropic API."},
		{"account", 401, "The OpenAI account associated with this API key has been deactivated."},
		{"account", 400, "Incorrect API key provided: xa***. You can obtain an API key from https://console.x.ai."},
		{"context", 400, "This model's maximum context length is 131072 tokens. However, you requested 131134 tokens (122942 in the messages, 8192 in the completion)."},
		{"context", 400, "The decoder prompt (length 17772) is longer than the maximum model length of 16384."},
		{"context", 400, "prompt is too long: 205112 tokens > 200000 maximum"},
		{"context", 400, "request (8283 tokens) exceeds the available context size (2048 tokens), try increasing it"},
		{"context", 400, "Trying to keep the first 10136 tokens when context the overflows. However, the model is loaded with context length of only 7866 tokens"},
		{TornBody, 400, "The request body is not valid JSON: no low surrogate in string: line 1 column 41234"},
		{"cloudflare-throttle", 429, "error code: 1015"},
		{"cloudflare-block", 403, "error code: 1020"},
		{"cloudflare-origin", 530, "error code: 1033"},
		{"kong-throttle", 429, "API rate limit exceeded"},
		{"kong-route", 404, "no Route matched with those values"},
		{"kong-upstream", 503, "failure to get a peer from the ring-balancer"},
		{"kong-key", 401, "No API key found in request"},
		{"nginx-missing", 404, "404 Not Found"},
		{"http-425", 425, "Too Early"},
	} {
		known[c.rule] = true
		if v, ok := OfService(c.text, c.status, now); !ok || v.Rule != c.rule {
			t.Errorf("%q: %s by %q, want %s", c.text, v.Class, v.Rule, c.rule)
		}
	}
	for _, r := range services.Table {
		if !known[r.Name] {
			t.Errorf("the row %s has no sample", r.Name)
		}
	}
	for text, status := range map[string]int{
		"Rate limit reached for gpt-5 on tokens per min (TPM). Please try again in 17s.":                                              429,
		"Rate limit reached for m in organization o on tokens per minute (TPM). Upgrade at https://console.groq.com/settings/billing": 429,
		"We're receiving too many requests at the moment. Please wait a moment and try again.":                                        429,
		"Your team's rate limit is - requests per second (actual/limit): 12/8":                                                        429,
		"fix: handle an exceeded quota, and billing":                                                                                  400,
		"the test of the balance failed: insufficient":                                                                                400,
		"the model answers that it does not exist":                                                                                    400,
		"the server had two errors in its log":                                                                                        400,
		"max_tokens exceeds the maximum of the model":                                                                                 400,
		"The function returned an insufficient_amount":                                                                                400,
		"tools.0.input_schema: field required":                                                                                        400,
		"the file context.go was not found":                                                                                           404,
		"internal error: insufficient credits for job":                                                                                500,
		"<h1>budget has been exceeded</h1>":                                                                                           502,
		"max_tokens: 64000 > 32000, which is the maximum":                                                                             400,
		`{"error":{"code":"1408","message":"x"}}`:                                                                                     429,
		"resource limit of 1308 files":                                                                                                400,
		"usage: 5 hours of audio":                                                                                                     400,
		"you are using too many tools":                                                                                                400,
	} {
		if v, ok := OfService(text, status, now); ok {
			t.Errorf("%d %q: %s by %s", status, text, v.Class, v.Rule)
		}
	}
}

// GLM tells times of Beijing without saying so, unless it says so; others tell those of wherever they are.
func TestOfService_Zone(t *testing.T) {
	now := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"Usage limit reached for 5 hour. Your limit will reset at 2026-11-18 05:23:03":         "2026-11-17T21:23:03Z",
		"Usage limit reached for 5 hour. Your limit will reset at 2026-11-18 05:23:03 UTC":     "2026-11-18T05:23:03Z",
		"已达到 5 小时的使用上限。您的限额将在 2026-11-18 05:23:03 重置。":                                         "2026-11-17T21:23:03Z",
		"You have exceeded the 5-hour usage quota. It will reset at 2026-11-18 05:23:03 +0800": "2026-11-17T21:23:03Z",
	} {
		v, ok := OfService(text, 429, now)
		if !ok || v.Class != verdict.UsageLimit || v.Hint.At.UTC().Format(time.RFC3339) != want || v.Hint.Inferred {
			t.Errorf("%q: %s, %+v", text, v.Class, v.Hint)
		}
	}
}
