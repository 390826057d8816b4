// Package prices is belay prices: what costs are estimated with.
package prices

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/price"
	"github.com/belay-run/belay/internal/term"
)

var priceTable = []term.Column{{Heading: "MODEL", Min: 16}, {Heading: "INPUT", Kind: term.Number}, {Heading: "OUTPUT", Kind: term.Number},
	{Heading: "CACHE READ", Kind: term.Number, ShortHeading: "READ", Short: same}, {Heading: "CACHE WRITE", Kind: term.Number, ShortHeading: "WRITE", Short: same},
	{Heading: "CACHE WRITE 1H", Kind: term.Number, ShortHeading: "WRITE 1H", Short: same}, {Heading: "LONG PROMPT", Kind: term.Whole, Short: shortLong},
	{Heading: "FROM", Kind: term.Whole, Drop: 1}}

// same is a cell that has no short form below a heading that has one.
func same(cell string) string { return cell }

// shortLong is "5/22.5 above 200K" as 5/22.5>200K.
func shortLong(cell string) string { return strings.ReplaceAll(cell, " above ", ">") }

// New makes belay prices.
func New() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "prices [MODEL…]",
		Short: "Show the prices that costs are estimated with",
		Example: `Show the whole list:
  belay prices
Show the price of a model:
  belay prices claude-opus-4-8 gpt-5.6-sol`,
		Long: `Shows the price list that costs are estimated with if a CLI reports tokens but no cost, in US dollars per million tokens. Prices of your own,
as [prices."MODEL"] in config.toml, come first. Details: https://github.com/belay-run/belay/blob/main/docs/cost.md`,
		RunE: func(cmd *cobra.Command, models []string) error {
			own, err := config.Prices()
			if err != nil {
				return command.Usage(err, "")
			}
			rows, err := priceRows(own, models, time.Now())
			if err != nil {
				return err
			}
			if asJSON {
				return term.JSONLines(cmd.OutOrStdout(), rows)
			}
			return writePrices(cmd.OutOrStdout(), rows, time.Now())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, one object per line")
	return cmd
}

// priceRow is a row of the price list, as it is shown.
type priceRow struct {
	Model   string   `json:"model"`
	Aliases []string `json:"aliases,omitempty"`
	Vendor  string   `json:"vendor,omitempty"`
	// From is the day from which on the price holds; empty if it always has.
	From string `json:"from,omitempty"`
	price.Price
	Source  string `json:"source"`
	Checked string `json:"checked,omitempty"`

	checked time.Time
}

// priceRows are the prices in force on a day and those to come, the user's own first: of the models that were asked for, or of
// all.
func priceRows(own *price.Table, models []string, now time.Time) (rows []priceRow, err error) {
	var known []string
	wanted := func(is func(model string) bool) bool {
		wanted := len(models) == 0
		for _, m := range models {
			if is(m) {
				wanted, known = true, append(known, m)
			}
		}
		return wanted
	}
	for model, p := range own.Own() {
		if wanted(func(m string) bool { return own.OwnName(m) == model }) {
			rows = append(rows, priceRow{Model: model, Price: p, Source: config.UserFile()})
		}
	}
	list, checked := price.Rows()
	for _, r := range list {
		switch {
		case own.OwnName(r.Model) != "", !r.Holds(now) && !r.Begins().After(now), !wanted(r.IsOf):
			continue
		}
		row := priceRow{Model: r.Model, Aliases: r.Aliases, Vendor: r.Vendor, Price: r.Price, Source: r.Source, Checked: checked.Format(time.DateOnly), checked: checked}
		if r.From != nil {
			row.From = r.From.String()
		}
		rows = append(rows, row)
	}
	for _, m := range models {
		if !slices.Contains(known, m) {
			return nil, command.Usage(message.Error(fmt.Sprintf("there is no price for %q", m)), fmt.Sprintf("to set one, in %s: [prices.%q]", config.UserFile(), m))
		}
	}
	return rows, nil
}

// oldList is the age from which on the list is likely to be wrong: vendors change prices several times a year.
const oldList = 90 * 24 * time.Hour

func writePrices(w io.Writer, rows []priceRow, now time.Time) error {
	var sources []string
	var checked time.Time
	for _, r := range rows {
		source := r.Source
		if r.Vendor != "" {
			source, checked = r.Vendor+": "+r.Source, r.checked
		}
		if !slices.Contains(sources, source) {
			sources = append(sources, source)
		}
	}
	if err := term.Table(w, priceTable, priceCells(rows)); err != nil {
		return err
	}
	term.Text(w, "\n"+"US dollars per million tokens"+"\n"+strings.Join(sources, "\n")+"\n")
	if checked.IsZero() {
		return nil
	}
	age := now.Sub(checked)
	err := term.Line(w, fmt.Sprintf("list of %s (%s); if it differs from the pages above, they are right", checked.Format(time.DateOnly), message.DaysAgo(int(age/(24*time.Hour)))))
	if age > oldList {
		term.Line(w, fmt.Sprintf("this list is old: update belay, or set prices of your own in %s", config.UserFile()))
	}
	return err
}

// priceCells are the rows of the table.
func priceCells(rows []priceRow) (cells [][]term.Piece) {
	for _, r := range rows {
		long, from := "", r.From
		if l := r.Long; l != nil {
			long = fmt.Sprintf("%s/%s above %dK", usd(l.Input), usd(l.Output), l.Above/1000)
		}
		if r.Vendor == "" {
			from = "config.toml"
		}
		cells = append(cells, term.Cells(r.Model, usd(r.Input), usd(r.Output), usd(r.CacheRead), usd(r.CacheWrite), usd(r.CacheWriteHour), long, from))
	}
	return cells
}

// usd is a price without zeros at its end.
func usd(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
