package prices

import (
	"testing"

	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/term/tabletest"
)

// The table of prices has long models, and prices of one's own.
func TestTable_Layout(t *testing.T) {
	prices := priceCells([]priceRow{
		{Model: "claude-sonnet-4-6-20260301", Vendor: "anthropic", From: "2026-12-01", Price: price.Price{Rates: price.Rates{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75, CacheWriteHour: 6},
			Long: &price.Long{Above: 200_000, Rates: price.Rates{Input: 6, Output: 22.5}}}},
		{Model: "gpt-5.6-sol", Vendor: "openai", Price: price.Price{Rates: price.Rates{Input: 1.25, Output: 10, CacheRead: 0.125}}},
		{Model: "a-model-of-my-own", Price: price.Price{Rates: price.Rates{Input: 0.25, Output: 1}}},
	})
	tabletest.Layouts(t, map[string]term.Sheet{"prices": {Columns: priceTable, Rows: prices}})
}
