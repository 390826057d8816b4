package telemetry

import (
	"os"
	"runtime"
	"slices"
	"strings"

	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"

	"github.com/belay-run/belay/internal/version"
	"github.com/belay-run/belay/verdict"
)

// Names of attributes, from OpenTelemetry's conventions. Those that begin with belay are ours.
const (
	serviceName = "service.name"

	operationName   = "gen_ai.operation.name"
	providerName    = "gen_ai.provider.name"
	agentName       = "gen_ai.agent.name"
	requestModel    = "gen_ai.request.model"
	responseModel   = "gen_ai.response.model"
	conversationID  = "gen_ai.conversation.id"
	inputTokens     = "gen_ai.usage.input_tokens"
	outputTokens    = "gen_ai.usage.output_tokens"
	cacheReadTokens = "gen_ai.usage.cache_read.input_tokens"
	cacheNewTokens  = "gen_ai.usage.cache_creation.input_tokens"
	toolName        = "gen_ai.tool.name"
	tokenType       = "gen_ai.token.type"
	errorType       = "error.type"

	invokeAgent = "invoke_agent"
	executeTool = "execute_tool"
)

// attributes is a list of them. Texts and numbers that say nothing are left out.
type attributes []*common.KeyValue

// text adds texts: names, each with its value behind it.
func (a *attributes) text(pairs ...string) {
	for i := 0; i+1 < len(pairs); i += 2 {
		if value := strings.ToValidUTF8(pairs[i+1], "\uFFFD"); value != "" {
			*a = append(*a, &common.KeyValue{Key: pairs[i], Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: value}}})
		}
	}
}

func (a *attributes) number(name string, n int64) {
	*a = append(*a, &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_IntValue{IntValue: n}}})
}

func (a *attributes) some(name string, n int64) {
	if n != 0 {
		a.number(name, n)
	}
}

func (a *attributes) float(name string, f float64) {
	*a = append(*a, &common.KeyValue{Key: name, Value: &common.AnyValue{Value: &common.AnyValue_DoubleValue{DoubleValue: f}}})
}

// usage adds what was used, and what that has cost. The conventions count tokens from the cache as input too.
func (a *attributes) usage(u *verdict.Usage) {
	if u.InputTokens|u.OutputTokens|u.CacheReadInputTokens|u.CacheCreationInputTokens != 0 {
		a.number(inputTokens, u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens)
		a.number(outputTokens, u.OutputTokens)
		a.some(cacheReadTokens, u.CacheReadInputTokens)
		a.some(cacheNewTokens, u.CacheCreationInputTokens)
	}
	if u.CostUSD != nil {
		a.float("belay.cost", *u.CostUSD)
	}
	if u.CostUSD != nil && u.Estimated {
		*a = append(*a, &common.KeyValue{Key: "belay.cost.estimated", Value: &common.AnyValue{Value: &common.AnyValue_BoolValue{BoolValue: true}}})
	}
}

// resourceOf says who sends: this record on this machine. What the user says goes before what Belay knows.
func resourceOf(s *Settings, instance string) *resource.Resource {
	host, _ := os.Hostname()
	list := slices.Clone(s.Resource)
	for _, own := range []Attribute{{serviceName, "belay"}, {"service.version", version.String()}, {"service.instance.id", instance}, {"host.name", host},
		{"os.type", runtime.GOOS}, {"telemetry.sdk.name", "belay"}, {"telemetry.sdk.language", "go"}, {"telemetry.sdk.version", version.String()}} {
		if !slices.ContainsFunc(list, func(a Attribute) bool { return a.Name == own.Name }) {
			list = append(list, own)
		}
	}
	var a attributes
	for _, one := range list {
		a.text(one.Name, one.Value)
	}
	return &resource.Resource{Attributes: a}
}

// scope names Belay as what has measured.
func scope() *common.InstrumentationScope {
	return &common.InstrumentationScope{Name: "github.com/belay-run/belay", Version: version.String()}
}

// provider is a service by its name in the conventions, as far as these have one.
func provider(name string) string {
	switch name {
	case "bedrock":
		return "aws.bedrock"
	case "vertex":
		return "gcp.vertex_ai"
	case "google", "code-assist":
		return "gcp.gemini"
	case "foundry", "azure":
		return "azure.ai.inference"
	}
	return name
}
