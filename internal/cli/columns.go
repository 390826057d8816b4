package cli

import (
	"strings"

	"github.com/belay-run/belay/internal/term"
)

// The columns of the tables: see term.Column for what happens to them where a terminal is narrow.

var psTable = []term.Column{{Heading: "ID", Kind: term.Whole, Style: term.Faint}, {Heading: "PID", Kind: term.Number, Drop: 2}, {Heading: "COMMAND", Kind: term.Path},
	{Heading: "LABELS", Drop: 1, Min: 10}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "STATE", Min: 38}}

var gateTable = []term.Column{{Heading: "GATE", Kind: term.Path, Min: 12}, {Heading: "STATE", Kind: term.Whole}, {Heading: "SINCE", Kind: term.Whole, Drop: 1},
	{Heading: "UNTIL", Kind: term.Whole}, {Heading: "WAITING", Kind: term.Number}, {Heading: "REASON", Kind: term.Note}}

// budgetTable has the bars of what is spent behind it.
func budgetTable(bars []term.Bar) []term.Column {
	return []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "SPENT", Kind: term.Number}, {Bars: bars}, {Heading: "LEFT", Kind: term.Number},
		{Heading: "LIMIT", Kind: term.Whole}, {Heading: "STATE", Kind: term.Note}}
}

// limitTable has the bars of what is used.
func limitTable(bars []term.Bar) []term.Column {
	return []term.Column{{Heading: "ACCOUNT", Kind: term.Path, Min: 12}, {Heading: "WINDOW", Kind: term.Path, Min: 9}, {Heading: "USED", Kind: term.Number}, {Bars: bars},
		{Heading: "RESETS", Kind: term.Whole}, {Heading: "FORECAST", Kind: term.Whole, Drop: 1}}
}

var shareTable = []term.Column{{Heading: "BUDGET", Kind: term.Path}, {Heading: "SPENT", Kind: term.Number}, {Heading: "PROFILE"}, {Heading: "PROJECT", Kind: term.Path, Min: 16},
	{Heading: "NAME", Min: 12}}

// serverTable has the generation for programs that read it: on a terminal the restarts say as much.
var serverTable = []term.Column{{Heading: "SERVER", Kind: term.Path}, {Heading: "PID", Kind: term.Number, Drop: 1}, {Heading: "UPTIME", Kind: term.Number},
	{Heading: "GENERATION", Kind: term.Number, Redundant: func([]string) bool { return true }}, {Heading: "RESTARTS", Kind: term.Number}, {Heading: "MEMORY", Drop: 2}, {Heading: "LAST FAILURE", Kind: term.Note}}

var hookTable = []term.Column{{Heading: "CLIENT", Kind: term.Whole}, {Heading: "SCOPE", Kind: term.Whole}, {Heading: "EVENT", Kind: term.Whole}, {Heading: "MATCHER", Kind: term.Path},
	{Heading: "BELAY", Min: 12}, {Heading: "COMMAND", Kind: term.Note}}

var shimTable = []term.Column{{Heading: "COMMAND", Kind: term.Whole}, {Heading: "STATE", Min: 16}, {Heading: "REAL CLI", Kind: term.Note}}

var settingTable = []term.Column{{Heading: "SETTING", Min: 20}, {Heading: "VALUE", Min: 24}, {Heading: "FROM", Kind: term.Path, Min: 16, Style: term.Faint}}

// runningTable are the tasks of a batch that run.
var runningTable = []term.Column{{Heading: "TASK", Kind: term.Path, Min: 12}, {Heading: "ELAPSED", Kind: term.Number}, {Heading: "ACTIVITY", Kind: term.Note}}

// batchTable are the failures of a batch.
var batchTable = []term.Column{{Heading: "ERROR", Kind: term.Whole}, {Heading: "TASKS", Kind: term.Number}, {Heading: "FIRST", Kind: term.Path, Min: 12}, {Heading: "MESSAGE", Kind: term.Note}}

var profileTable = []term.Column{{Heading: "PROFILE", Min: 10}, {Heading: "COMMAND", Min: 10}, {Heading: "TESTED", Drop: 1}, {Heading: "FROM", Kind: term.Path, Min: 16}}

var outcomeTable = []term.Column{{Heading: "OUTCOME", Min: 16}, {Heading: "EXPECTED", Kind: term.Whole}, {Heading: "GOT", Kind: term.Whole}, {Heading: "RULE", Drop: 1},
	{Heading: "RESULT", Kind: term.Note}}

var aboutTable = []term.Column{{Heading: "KEY", Min: 16}, {Heading: "VALUE", Kind: term.Note}}

var priceTable = []term.Column{{Heading: "MODEL", Min: 16}, {Heading: "INPUT", Kind: term.Number}, {Heading: "OUTPUT", Kind: term.Number},
	{Heading: "CACHE READ", Kind: term.Number, ShortHeading: "READ", Short: same}, {Heading: "CACHE WRITE", Kind: term.Number, ShortHeading: "WRITE", Short: same},
	{Heading: "CACHE WRITE 1H", Kind: term.Number, ShortHeading: "WRITE 1H", Short: same}, {Heading: "LONG PROMPT", Kind: term.Whole, Short: shortLong},
	{Heading: "FROM", Kind: term.Whole, Drop: 1}}

// same is a cell that has no short form below a heading that has one.
func same(cell string) string { return cell }

// shortLong is "5/22.5 above 200K" as 5/22.5>200K.
func shortLong(cell string) string { return strings.ReplaceAll(cell, " above ", ">") }
