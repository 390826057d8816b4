package page

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/actions"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/record"
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
	table(&b, "| model | runs | input tokens | output tokens | cost |\n|---|--:|--:|--:|--:|", r.Spend.Groups, func(g view.Sum) string {
		return fmt.Sprintf("| %s | %d | %d | %d | %s |", actions.Code(cmp.Or(g.Key, "–")), g.Runs, g.Input+g.CacheRead+g.CacheMade, g.Output, money(g))
	})
	table(&b, "| profile | runs | succeeded | attempts | waited |\n|---|--:|--:|--:|--:|", r.Health.Profiles, func(p view.Reliability) string {
		return fmt.Sprintf("| %s | %d | %s | %d | %s |", actions.Code(cmp.Or(p.Key, "–")), p.Runs, share(p.Succeeded, p.Runs), p.Attempts, printable.Span(time.Duration(p.WaitMS)*time.Millisecond))
	})
	table(&b, "| failed attempts by class | |\n|---|--:|", r.Health.Classes, func(c view.ClassCount) string {
		return fmt.Sprintf("| %s | %d |", actions.Code(c.Class), c.N)
	})
	table(&b, "| ended | name | command | class | error |\n|---|---|---|---|---|", r.Failed.Runs, func(f record.Invocation) string {
		return fmt.Sprintf("| %s | %s | %s | %s | %s |", f.Ended.Local().Format("2006-01-02 15:04"), actions.Code(cmp.Or(f.Name, "–")), actions.Code(f.Command), actions.Code(string(f.Class)), actions.Code(f.Error))
	})
	return b.String()
}

// table writes the first rows of a list, if there are any.
func table[T any](b *strings.Builder, heading string, list []T, row func(T) string) {
	for i, one := range list[:min(len(list), mostRows)] {
		if i == 0 {
			b.WriteString("\n" + heading + "\n")
		}
		b.WriteString(row(one) + "\n")
	}
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
