package page

import (
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/companion/view"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
)

// mostRows is how many rows a table of the report in Markdown has.
const mostRows = 20

// Markdown is the report for the summary of a job or a comment: its figures, without charts.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString(message.ReportHeading(r.Spend.From, r.Spend.To, r.Made) + "\n")
	t := r.Health.Total
	b.WriteString("\n| runs | succeeded | attempts | waited | cost | lost to failures |\n|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(&b, "| %d | %s | %d | %s | %s | %s |\n", t.Runs, share(t.Succeeded, t.Runs), t.Attempts, printable.Span(time.Duration(t.WaitMS)*time.Millisecond), money(r.Spend.Total), printable.Dollars(r.Spend.Total.Lost))
	if groups := r.Spend.Groups; len(groups) > 0 {
		b.WriteString("\n| model | runs | input tokens | output tokens | cost |\n|---|--:|--:|--:|--:|\n")
		for _, g := range first(groups) {
			fmt.Fprintf(&b, "| %s | %d | %d | %d | %s |\n", actions.Code(orNone(g.Key)), g.Runs, g.Input+g.CacheRead+g.CacheMade, g.Output, money(g))
		}
	}
	if profiles := r.Health.Profiles; len(profiles) > 0 {
		b.WriteString("\n| profile | runs | succeeded | attempts | waited |\n|---|--:|--:|--:|--:|\n")
		for _, p := range first(profiles) {
			fmt.Fprintf(&b, "| %s | %d | %s | %d | %s |\n", actions.Code(orNone(p.Key)), p.Runs, share(p.Succeeded, p.Runs), p.Attempts, printable.Span(time.Duration(p.WaitMS)*time.Millisecond))
		}
	}
	if classes := r.Health.Classes; len(classes) > 0 {
		b.WriteString("\n| failed attempts by class | |\n|---|--:|\n")
		for _, c := range first(classes) {
			fmt.Fprintf(&b, "| %s | %d |\n", actions.Code(c.Class), c.N)
		}
	}
	if failed := r.Failed.Runs; len(failed) > 0 {
		b.WriteString("\n| ended | command | class | error |\n|---|---|---|---|\n")
		for _, f := range first(failed) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Ended.Local().Format("2006-01-02 15:04"), actions.Code(f.Command), actions.Code(string(f.Class)), actions.Code(f.Error))
		}
	}
	return b.String()
}

func first[T any](list []T) []T { return list[:min(len(list), mostRows)] }

func orNone(key string) string {
	if key == "" {
		return "–"
	}
	return key
}

// share is a part of all, in percent.
func share(part, all int64) string {
	if all == 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f %%", 100*float64(part)/float64(all))
}

// money is what is known of a cost.
func money(s view.Sum) string {
	switch {
	case s.Cost == nil:
		return "–"
	case s.Unknown > 0:
		return "≥ " + printable.Dollars(*s.Cost)
	case s.Estimated > 0:
		return "~" + printable.Dollars(*s.Cost)
	}
	return printable.Dollars(*s.Cost)
}
