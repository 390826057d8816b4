package db

import (
	"encoding/json"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// usageOf reads what a CLI has reported. What cannot be read counts as zero, and a cost that cannot be one as unknown.
func usageOf(data json.RawMessage) (u verdict.Usage) {
	if len(data) > 0 && json.Unmarshal(data, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	u.Estimated = u.Estimated && u.CostUSD != nil
	return u
}
