//go:build linux

package record_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/belay-run/belay/internal/e2e/stage"
)

func TestMain(m *testing.M) { stage.Main(m, "cmd/belayd") }

// usage is what results, statistics and the record of a session say alike.
type usage struct {
	In     int64    `json:"input_tokens"`
	Out    int64    `json:"output_tokens"`
	Read   int64    `json:"cache_read_input_tokens"`
	Create int64    `json:"cache_creation_input_tokens"`
	Cost   *float64 `json:"total_cost_usd"`
	// Estimated says that the cost comes from the price list.
	Estimated bool `json:"estimated"`
}

func (u *usage) add(v usage) {
	u.In, u.Out, u.Read, u.Create = u.In+v.In, u.Out+v.Out, u.Read+v.Read, u.Create+v.Create
	u.Estimated = u.Estimated || v.Estimated
	if v.Cost != nil {
		sum := *v.Cost
		if u.Cost != nil {
			sum += *u.Cost
		}
		u.Cost = &sum
	}
}

func (u usage) String() string {
	cost := "–"
	if u.Cost != nil {
		cost = fmt.Sprintf("%.6f", math.Round(*u.Cost*1e6)/1e6)
	}
	return fmt.Sprintf("%d in, %d out, cache %d read %d created, $%s", u.In, u.Out, u.Read, u.Create, cost)
}

// figures are the figures of belay stats.
type figures struct {
	Key         string `json:"key"`
	Invocations int64  `json:"invocations"`
	Succeeded   int64  `json:"succeeded"`
	Attempts    int64  `json:"attempts"`
	Requests    int64  `json:"requests"`
	WaitMS      int64  `json:"wait_ms"`
	Usage       usage  `json:"usage"`
	// Unpriced is how many attempts have an unknown cost, Unknown how many have used more than was told, and Estimated how many
	// have an estimated cost.
	Unpriced  int64 `json:"unknown_costs"`
	Unknown   int64 `json:"unknown_usage"`
	Estimated int64 `json:"estimated_costs"`
}

func (f *figures) add(g figures) {
	f.Invocations += g.Invocations
	f.Succeeded += g.Succeeded
	f.Attempts += g.Attempts
	f.Requests += g.Requests
	f.WaitMS += g.WaitMS
	f.Unpriced += g.Unpriced
	f.Unknown += g.Unknown
	f.Estimated += g.Estimated
	f.Usage.add(g.Usage)
}

func (f figures) String() string {
	return fmt.Sprintf("%d runs, %d ok, %d attempts, %d requests, %d ms waited, %v, %d of unknown cost, %d of unknown usage, %d of estimated cost",
		f.Invocations, f.Succeeded, f.Attempts, f.Requests, f.WaitMS, f.Usage, f.Unpriced, f.Unknown, f.Estimated)
}
