package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/agent"
)

// header is the table's head: the fault, and each CLI on its own and with Belay.
func header(clis []*agent.Descriptor) string {
	var names, rule strings.Builder
	names.WriteString("| fault |")
	rule.WriteString("|---|")
	for _, cli := range clis {
		fmt.Fprintf(&names, " `%s` | with Belay |", cli.Headless())
		rule.WriteString("---|---|")
	}
	return names.String() + "\n" + rule.String() + "\n"
}

// row is a fault with its outcomes, in the order of the header.
func row(f *fault, outcomes []outcome) string {
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |", f.name)
	for _, o := range outcomes {
		fmt.Fprintf(&b, " %s |", o)
	}
	return b.String() + "\n"
}

// caption says what the table was measured with.
func caption(clis []*agent.Descriptor, limit time.Duration, day time.Time) string {
	var versions []string
	for _, cli := range clis {
		versions = append(versions, cli.Name+" "+cli.Tested[0])
	}
	return fmt.Sprintf("\nMeasured on %s with %s by `make faults`, which repeats it on your machine without spending anything. A CLI on its own was stopped after %s; Belay had no flags but those named.\n",
		day.Format("2 January 2006"), strings.Join(versions, " and "), seconds(limit))
}

// String is a cell of the table.
func (o outcome) String() string {
	switch {
	case o.answered && o.code == 0:
		return "**answer** after " + seconds(o.took)
	case o.stopped:
		return "no answer in " + seconds(o.took)
	case o.message == "":
		return fmt.Sprintf("exit %d after %s", o.code, seconds(o.took))
	}
	return fmt.Sprintf("exit %d after %s: “%s”", o.code, seconds(o.took), quote(o.message))
}

// seconds is a duration in whole seconds, at least one.
func seconds(d time.Duration) string { return fmt.Sprintf("%.0f s", max(1, math.Round(d.Seconds()))) }

// quoteWidth is how much of a message fits in a cell.
const quoteWidth = 60

// quote is the first sentence of a message, cut where it is too long for a cell, with nothing that Markdown would read.
func quote(message string) string {
	message = strings.TrimPrefix(message, "ERROR: ")
	message, _, _ = strings.Cut(message, ". ")
	message = strings.TrimSuffix(message, ".")
	if runes := []rune(message); len(runes) > quoteWidth {
		message = string(runes[:quoteWidth])
		if space := strings.LastIndex(message, " "); space > 0 {
			message = message[:space]
		}
		message = strings.TrimRight(message, " ,:;·") + " …"
	}
	return strings.NewReplacer("|", `\|`, "*", `\*`, "`", "'", "<", "&lt;", "_", `\_`).Replace(message)
}
