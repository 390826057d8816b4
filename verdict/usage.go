package verdict

import "encoding/json"

// Usage is what a call to a model has used, as its CLI reports it. It is never estimated.
type Usage struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	// CostUSD is nil if the CLI does not say.
	CostUSD *float64 `json:"total_cost_usd"`
}

// Add returns the sum. Its cost is known if that of one of them is: what nobody has told cannot be added.
func (u Usage) Add(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CacheReadInputTokens += v.CacheReadInputTokens
	u.CacheCreationInputTokens += v.CacheCreationInputTokens
	if v.CostUSD != nil {
		sum := *v.CostUSD
		if u.CostUSD != nil {
			sum += *u.CostUSD
		}
		u.CostUSD = &sum
	}
	return u
}

// IsZero reports whether nothing was used, or nothing is known.
func (u Usage) IsZero() bool {
	return u.InputTokens == 0 && u.OutputTokens == 0 && u.CacheReadInputTokens == 0 && u.CacheCreationInputTokens == 0 && u.CostUSD == nil
}

// JSON is the usage as a field of a record; nil if nothing is known.
func (u Usage) JSON() json.RawMessage {
	if u.IsZero() {
		return nil
	}
	data, err := json.Marshal(u)
	if err != nil { // an infinite cost
		u.CostUSD = nil
		data, _ = json.Marshal(u)
	}
	return data
}
