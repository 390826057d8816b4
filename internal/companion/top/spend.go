package top

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/verdict"
)

// Spend is what the record has of a day. Fields are only ever added.
type Spend struct {
	Since        time.Time `json:"since"`
	Runs         int64     `json:"runs"` // that have ended
	Failed       int64     `json:"failed"`
	Attempts     int64     `json:"attempts"`
	InputTokens  int64     `json:"input_tokens"`
	OutputTokens int64     `json:"output_tokens"`
	CostUSD      float64   `json:"cost_usd"`
	Estimated    int64     `json:"estimated_costs"` // attempts whose cost is an estimate
	Unknown      int64     `json:"unknown_costs"`   // attempts whose cost is not known
}

// usage is what an attempt has used. A cost that cannot be one is not known.
func usage(e journal.Entry) (u verdict.Usage) {
	if len(e.Usage) == 0 || json.Unmarshal(e.Usage, &u) != nil {
		return verdict.Usage{}
	}
	u.CostUSD = price.Credible(u.CostUSD)
	return u
}

// parts say it in words.
func (s *Spend) parts() []string {
	cost := dollars(s.CostUSD)
	if s.Estimated > 0 {
		cost = "~" + cost
	}
	if s.Unknown > 0 {
		cost = "≥ " + cost
	}
	runs := message.Count(int(s.Runs), "run")
	if s.Failed > 0 {
		runs += fmt.Sprintf(" (%d failed)", s.Failed)
	}
	parts := []string{"today " + cost, runs}
	if n := s.InputTokens + s.OutputTokens; n > 0 {
		parts = append(parts, short(n)+" tokens")
	}
	return parts
}
