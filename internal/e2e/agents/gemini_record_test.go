//go:build linux

package agents_test

import (
	"fmt"
	"strings"

	"github.com/belay-run/belay/verdict"
)

// geminiOnce has gemini ask once: what it repeats by itself for minutes tells nothing more.
var geminiOnce = map[string]string{".gemini/settings.json": `{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"maxAttempts": 1, "enableAutoUpdate": false}}`}

// geminiError is an answer of the Gemini API that refuses.
func geminiError(code int, status, message string, details ...string) string {
	return fmt.Sprintf("%d(body=`{\"error\":{\"code\":%d,\"message\":%q,\"status\":%q,\"details\":[%s]}}`)x*", code, code, message, status, strings.Join(details, ","))
}

func geminiQuota(id string) string {
	return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"generativelanguage.googleapis.com/generate_content_free_tier_requests","quotaId":%q,"quotaValue":"15"}]}`, id)
}

func geminiReason(reason string) string {
	return fmt.Sprintf(`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":%q,"domain":"googleapis.com"}`, reason)
}

func geminiEnds(part, reason string) string {
	return "200(content-type=text/event-stream, body=`" + geminiChunk(part, reason) + "`)x*"
}

const geminiRetryInfo = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"17s"}`

const geminiQuotaText = "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."

var geminiRecorded = []recorded{
	{name: "quota-per-minute", script: geminiError(429, "RESOURCE_EXHAUSTED", geminiQuotaText, geminiQuota("GenerateRequestsPerMinutePerProjectPerModel-FreeTier"), geminiRetryInfo), files: geminiOnce, class: verdict.RateLimit},
	{name: "quota-per-day", script: geminiError(429, "RESOURCE_EXHAUSTED", geminiQuotaText, geminiQuota("GenerateRequestsPerDayPerProjectPerModel-FreeTier")), files: geminiOnce, class: verdict.UsageLimit},
	{name: "spend-cap", script: geminiError(429, "RESOURCE_EXHAUSTED", "Your project has exceeded its monthly spending cap. Please go to AI Studio to manage your project spend cap."), files: geminiOnce, class: verdict.Billing},
	{name: "overloaded", script: geminiError(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), files: geminiOnce, class: verdict.Overloaded},
	{name: "high-demand", script: geminiError(503, "UNAVAILABLE", "This model is currently experiencing high demand. Spikes in demand are usually temporary. Please try again later."), files: geminiOnce, class: verdict.Overloaded},
	{name: "unavailable", script: geminiError(503, "UNAVAILABLE", "The service is currently unavailable."), files: geminiOnce, class: verdict.ServerError},
	{name: "internal", script: geminiError(500, "INTERNAL", "An internal error has occurred. Please retry or report in https://developers.generativeai.google/guide/troubleshooting"), files: geminiOnce, class: verdict.ServerError},
	{name: "deadline", script: geminiError(504, "DEADLINE_EXCEEDED", "The request timed out. Please try again."), files: geminiOnce, class: verdict.ServerError},
	{name: "bad-gateway", script: "502(body=`<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>`, content-type=text/html)x*", files: geminiOnce, class: verdict.ServerError},
	{name: "key-invalid", script: geminiError(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", geminiReason("API_KEY_INVALID")), files: geminiOnce, class: verdict.Auth},
	{name: "key-expired", script: geminiError(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key.", geminiReason("API_KEY_INVALID")), files: geminiOnce, class: verdict.Auth},
	{name: "key-leaked", script: geminiError(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."), files: geminiOnce, class: verdict.Auth},
	{name: "service-disabled", script: geminiError(403, "PERMISSION_DENIED", "Generative Language API has not been used in project 1234 before or it is disabled. Enable it and then retry.", geminiReason("SERVICE_DISABLED")), files: geminiOnce, class: verdict.Auth},
	{name: "unauthenticated", script: geminiError(401, "UNAUTHENTICATED", "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.", geminiReason("ACCESS_TOKEN_TYPE_UNSUPPORTED")), files: geminiOnce, class: verdict.Auth},
	{name: "location", script: geminiError(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), files: geminiOnce, class: verdict.Auth},
	{name: "billing-disabled", script: geminiError(400, "FAILED_PRECONDITION", "Gemini API free tier is not available in your country. Please enable billing on your project in Google AI Studio."), files: geminiOnce, class: verdict.Billing},
	{name: "no-model", script: geminiError(404, "NOT_FOUND", "models/gemini-9 is not found for API version v1beta, or is not supported for generateContent."), args: []string{"-m", "gemini-9"}, files: geminiOnce, class: verdict.NotFound},
	{name: "bad-argument", script: geminiError(400, "INVALID_ARGUMENT", "Please ensure that function call turn comes immediately after a user turn or after a function response turn."), files: geminiOnce, class: verdict.InvalidRequest},
	{name: "too-many-tokens", script: geminiError(400, "INVALID_ARGUMENT", "The input token count exceeds the maximum number of tokens allowed 1048576."), files: geminiOnce, class: verdict.TooLarge},
	{name: "cancelled-by-server", script: geminiError(499, "CANCELLED", "The operation was cancelled."), files: geminiOnce, class: verdict.ServerError},
	{name: "safety", script: geminiEnds(`{"text":""}`, "SAFETY"), files: geminiOnce, class: verdict.Refused},
	{name: "recitation", script: geminiEnds(`{"text":""}`, "RECITATION"), files: geminiOnce, class: verdict.Refused},
	{name: "max-tokens", script: geminiEnds(`{"text":""}`, "MAX_TOKENS"), files: geminiOnce, class: verdict.LimitReached},
	{name: "malformed-call", script: geminiEnds(`{"text":""}`, "MALFORMED_FUNCTION_CALL"), files: geminiOnce, class: verdict.BadOutput},
	{name: "empty", script: geminiEnds(`{"text":""}`, "STOP"), files: geminiOnce, class: verdict.BadOutput},
	{name: "ipv6-refused", script: "200", env: []string{"GOOGLE_GEMINI_BASE_URL=http://[::1]:9"}, files: geminiOnce, class: verdict.Network},
	{name: "no-such-host", script: "200", env: []string{"GOOGLE_GEMINI_BASE_URL=http://no-such-host.invalid"}, files: geminiOnce, class: verdict.Network},
	{name: "proxy-refused", script: "200", env: []string{"HTTPS_PROXY=http://127.0.0.1:9", "GOOGLE_GEMINI_BASE_URL=https://generativelanguage.googleapis.com"}, files: geminiOnce, class: verdict.Network},
	{name: "no-sandbox", script: "200", args: []string{"-s"}, env: []string{"GEMINI_SANDBOX=docker"}, files: geminiOnce, class: verdict.InvalidRequest},
	{name: "broken-settings", script: "200", files: map[string]string{".gemini/settings.json": `{"security": `}, class: verdict.InvalidRequest},
	{name: "no-auth-method", script: "200", env: []string{"GEMINI_API_KEY="}, files: map[string]string{".gemini/settings.json": `{}`}, class: verdict.Auth},
	{name: "no-session", script: "200", args: []string{"-r", "99"}, files: geminiOnce, class: verdict.SessionNotFound},
}
