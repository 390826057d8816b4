package gemini

import (
	"encoding/json"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// tokens are a count in gemini's words. Its prompt includes what was cached, and its total what the model has thought.
type tokens struct {
	Prompt     int64
	Candidates int64
	Cached     int64
	Total      int64
}

func (t tokens) add(u tokens) tokens {
	return tokens{t.Prompt + u.Prompt, t.Candidates + u.Candidates, t.Cached + u.Cached, t.Total + u.Total}
}

// call is a call to a model that has used them. What a model thinks costs as much as what it says.
func (t tokens) call(model string) agent.ModelCall {
	read := min(max(t.Cached, 0), t.Prompt)
	return agent.ModelCall{
		Model: model,
		Used:  verdict.Usage{InputTokens: t.Prompt, OutputTokens: t.Candidates, CacheReadInputTokens: t.Cached},
		Price: price.Call{Input: t.Prompt - read, Output: max(t.Candidates, t.Total-t.Prompt), CacheRead: read},
	}
}

// stats are those at the end of a stream.
type stats struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
	Models map[string]struct {
		Total  int64 `json:"total_tokens"`
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
		Cached int64 `json:"cached"`
	} `json:"models"`
	ToolCalls int `json:"tool_calls"`
}

// byModel is what each model was used.
func (s *stats) byModel() map[string]tokens {
	all := map[string]tokens{}
	for name, m := range s.Models {
		all[name] = tokens{Prompt: m.Input, Candidates: m.Output, Cached: m.Cached, Total: m.Total}
	}
	return all
}

// documentStats are the statistics that -o json prints.
type documentStats struct {
	Models map[string]struct {
		API struct {
			Requests int `json:"totalRequests"`
		} `json:"api"`
		Tokens struct {
			Prompt     int64 `json:"prompt"`
			Candidates int64 `json:"candidates"`
			Total      int64 `json:"total"`
			Cached     int64 `json:"cached"`
		} `json:"tokens"`
		Roles map[string]struct {
			Requests int `json:"totalRequests"`
			Errors   int `json:"totalErrors"`
			Tokens   struct {
				Total int64 `json:"total"`
			} `json:"tokens"`
		} `json:"roles"`
	} `json:"models"`
	Tools struct {
		Calls  int `json:"totalCalls"`
		ByName map[string]struct {
			Count      int     `json:"count"`
			DurationMS float64 `json:"durationMs"`
		} `json:"byName"`
	} `json:"tools"`
}

func (s *documentStats) byModel() map[string]tokens {
	all := map[string]tokens{}
	for name, m := range s.Models {
		all[name] = tokens{Prompt: m.Tokens.Prompt, Candidates: m.Tokens.Candidates, Cached: m.Tokens.Cached, Total: m.Tokens.Total}
	}
	return all
}

// requests is how many were made.
func (s *documentStats) requests() (n int) {
	for _, m := range s.Models {
		n += m.API.Requests
	}
	return n
}

// sum is what all models were used. Gemini names them as the service does, and a request that failed as it was asked for.
func sum(models map[string]tokens) (all tokens) {
	for _, t := range models {
		all = all.add(t)
	}
	return all
}

// reported is the usage in gemini's own words, which differ between its forms.
func reported(models map[string]tokens) json.RawMessage {
	all := sum(models)
	data, err := json.Marshal(map[string]int64{"input_tokens": all.Prompt, "output_tokens": all.Candidates, "cached": all.Cached, "total_tokens": all.Total})
	if err != nil {
		return nil
	}
	return data
}

// sumsOf are the models that were used, each as one call for the sum of its calls.
func sumsOf(models map[string]tokens) (sums agent.ModelCalls) {
	for name, t := range models {
		if t != (tokens{}) {
			call := t.call(name)
			call.Price.Sum = true
			sums = append(sums, call)
		}
	}
	return sums
}

// brokenStreams is how often in a row versions up to 0.40 ask for an answer whose stream ends too soon. Then they ask the model to continue, as
// often, and take all the pieces together for the answer.
const brokenStreams = 4

// brokeOff reports whether no answer has come to its end: what was used comes with the end. A service that never tells that is asked
// once for an answer, and once more for each tool.
func (s *documentStats) brokeOff() bool {
	requests, used := 0, int64(0)
	for _, m := range s.Models {
		main := m.Roles["main"]
		requests += main.Requests - main.Errors
		used += main.Tokens.Total
	}
	return used == 0 && requests >= s.Tools.Calls+brokenStreams
}
