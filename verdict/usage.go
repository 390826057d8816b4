package verdict

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
)

// Usage is what a call to a model has used, as its CLI reports it. Only the cost may be an estimate, and says so.
type Usage struct {
	InputTokens              int64 `json:"input_tokens"`
	OutputTokens             int64 `json:"output_tokens"`
	CacheReadInputTokens     int64 `json:"cache_read_input_tokens"`
	CacheCreationInputTokens int64 `json:"cache_creation_input_tokens"`
	// CostUSD is nil if it is not known. With Unknown it is what is known of it: at least that was spent.
	CostUSD *float64 `json:"total_cost_usd"`
	// Estimated says that the cost, or a part of it, was not reported by the CLI but computed from the tokens and a price list.
	Estimated bool `json:"estimated,omitempty"`
	// Unknown says that more was used than is told here: the CLI was ended before it could say, or it keeps no record.
	Unknown bool `json:"unknown,omitempty"`
	// Settles is how many earlier attempts of the same run the cost includes that did not tell theirs.
	Settles int `json:"settles,omitempty"`
	// Other is what else the CLI has reported, by its own keys and in its own words: service_tier, server_tool_use. In JSON it stands beside the
	// fields above; it is not read from there. Of several attempts it is that of the last one that told any: a CLI may count some of it from the
	// beginning of its session.
	Other map[string]json.RawMessage `json:"-"`
}

// maxOther is how large Other is at most, in bytes of JSON: a line of the log has 4 KB for everything.
const maxOther = 1000

// WithOther is the usage with what a CLI reports beyond the fields of u, which is an object of JSON. What would make it too large is left out.
func (u Usage) WithOther(reported json.RawMessage) Usage {
	var all map[string]json.RawMessage
	if len(reported) == 0 || json.Unmarshal(reported, &all) != nil {
		return u
	}
	for _, own := range []string{"input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "total_cost_usd", "estimated", "unknown", "settles"} {
		delete(all, own)
	}
	size := 0
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if more := len(key) + len(all[key]) + len(`"":,`); size+more <= maxOther {
			size += more
		} else {
			delete(all, key)
		}
	}
	if u.Other = all; len(all) == 0 {
		u.Other = nil
	}
	return u
}

// Add returns the sum. Its cost is not known if nothing is known of that of a part which has used something. What Settles
// says is about the parts, and not in the sum.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		InputTokens:              u.InputTokens + v.InputTokens,
		OutputTokens:             u.OutputTokens + v.OutputTokens,
		CacheReadInputTokens:     u.CacheReadInputTokens + v.CacheReadInputTokens,
		CacheCreationInputTokens: u.CacheCreationInputTokens + v.CacheCreationInputTokens,
		Unknown:                  u.Unknown || v.Unknown,
		Other:                    v.Other,
	}
	if v.Other == nil {
		sum.Other = u.Other
	}
	cost, known := 0.0, false
	for _, part := range []Usage{u, v} {
		switch {
		case part.CostUSD != nil:
			cost, known = cost+*part.CostUSD, true
			sum.Estimated = sum.Estimated || part.Estimated
		case part.CostUnknown():
			sum.Estimated = false
			return sum
		}
	}
	if known {
		sum.CostUSD = &cost
	}
	return sum
}

// CostUnknown reports whether something was used of which the cost is not known.
func (u Usage) CostUnknown() bool { return u.Unknown || u.CostUSD == nil && u.tokens() > 0 }

// tokens is how many there are of any kind.
func (u Usage) tokens() int64 {
	return u.InputTokens + u.OutputTokens + u.CacheReadInputTokens + u.CacheCreationInputTokens
}

// IsZero reports whether nothing was used, or nothing is known.
func (u Usage) IsZero() bool { return u.tokens() == 0 && u.CostUSD == nil && !u.Unknown }

// Rounded is the usage with a cost of at most nine decimals: any further ones come from adding floating-point numbers.
func (u Usage) Rounded() Usage {
	if u.CostUSD != nil && math.Abs(*u.CostUSD) < 1e6 { // beyond, there are no such decimals
		cost := math.Round(*u.CostUSD*1e9) / 1e9
		u.CostUSD = &cost
	}
	return u
}

// MarshalJSON implements [json.Marshaler]. The cost is rounded.
func (u Usage) MarshalJSON() ([]byte, error) {
	type plain Usage
	data, err := json.Marshal(plain(u.Rounded()))
	if err != nil || len(u.Other) == 0 {
		return data, err
	}
	other, err := json.Marshal(u.Other)
	return append(append(data[:len(data)-1], ','), other[min(len(other), 1):]...), err
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
