package sessions

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/table"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/term"
)

// Show is belay sessions show.
func Show(_ context.Context, r *request.Request) (int, error) {
	cli, id, path, err := find(r)
	if err != nil {
		return 1, err
	}
	n, err := strconv.Atoi(r.Text("n"))
	if err != nil || n < 0 {
		return 2, &request.UsageError{Err: message.Error("-n: " + strconv.Quote(r.Text("n")) + " is not a number of parts")}
	}
	prices, _ := config.Prices() // a mistake in the file is not what is asked for here
	last, before, err := history.Last(cli.Records, path, prices, n)
	switch {
	case err != nil:
		return 1, err
	case r.On("json"):
		return 0, term.JSONLines(r.Out, last)
	}
	var b strings.Builder
	if before > 0 {
		fmt.Fprintf(&b, "… %d parts before. To see all: belay sessions show -n 0 %s\n\n", before, id)
	}
	for _, e := range last {
		if !e.At.IsZero() {
			b.WriteString(e.At.Local().Format("15:04:05 "))
		}
		what := []string{e.Who, string(e.Kind), e.Tool}
		if e.Kind == history.Text {
			what[1] = ""
		}
		b.WriteString(strings.Join(strings.Fields(strings.Join(what, " ")), " "))
		if e.Input+e.Output > 0 {
			fmt.Fprintf(&b, " (%d tokens in, %d out", e.Input, e.Output)
			if e.CostUSD != nil {
				b.WriteString(", " + table.Dollars(e.CostUSD))
			}
			b.WriteByte(')')
		}
		b.WriteByte('\n')
		if body := strings.TrimRight(e.Text, "\n"); body != "" {
			fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(body, "\n", "\n  "))
		}
	}
	return 0, term.Text(r.Out, b.String())
}
