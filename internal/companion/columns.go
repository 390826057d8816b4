package companion

import (
	"strings"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/term"
)

// The columns of the tables, and what of them a narrow terminal shows: what was run when, how it ended and what it cost is always there;
// the rest is cut, and then left out in the order of Drop.

// Columns that several tables have.
var (
	timeColumn    = term.Column{Heading: "TIME", Kind: term.Time, Min: 8}
	runColumn     = term.Column{Heading: "RUN", Kind: term.Whole, Min: 8, Style: term.Faint}
	commandColumn = term.Column{Heading: "COMMAND", Kind: term.Path, Min: 7}
	labelsColumn  = term.Column{Heading: "LABELS", Drop: 6, Min: 10}
	resultColumn  = term.Column{Heading: "RESULT", Kind: term.Whole, Min: 10, Gist: withoutStatus}
	tokensColumn  = term.Column{Heading: "TOKENS", Kind: term.Number, Min: 14, Short: shortTokens, ShortHeading: "TOKENS IN/OUT"}
	costColumn    = term.Column{Heading: "COST", Kind: term.Number, Min: 8}
	errorColumn   = term.Column{Heading: "ERROR", Kind: term.Note, Style: term.Bad}
)

// number is a column of numbers that is left out where it has no room; 0 means never.
func number(heading string, drop int) term.Column {
	return term.Column{Heading: heading, Kind: term.Number, Drop: drop}
}

// profileColumn is left out where it says no more than the command in the column after it.
func profileColumn(at int) term.Column {
	return term.Column{Heading: "PROFILE", Drop: 7, Redundant: func(row []string) bool { return row[at] == row[at+1] || row[at] == generic.Name }}
}

var runColumns = []term.Column{timeColumn, runColumn, profileColumn(2), commandColumn, labelsColumn, resultColumn, number("ATTEMPTS", 5), number("WAITED", 3),
	number("TOOK", 4), tokensColumn, costColumn, errorColumn}

var attemptColumns = []term.Column{timeColumn, runColumn, number("ATTEMPT", 0), profileColumn(3), commandColumn, resultColumn, number("EXIT", 0), number("TOOK", 0),
	number("WAITED", 1), errorColumn}

var treeColumns = []term.Column{timeColumn, runColumn, {Heading: "COMMAND", Min: 12}, labelsColumn, resultColumn, number("ATTEMPTS", 5), number("TOOK", 4), costColumn,
	number("TOTAL", 0), errorColumn}

var sessionColumns = []term.Column{timeColumn, {Heading: "PROFILE", Drop: 5}, {Heading: "SESSION", Kind: term.Path, Min: 36, Gist: shortSession},
	{Heading: "STATUS", Kind: term.Whole}, number("RUNS", 3), number("ATTEMPTS", 4), tokensColumn, costColumn, labelsColumn,
	{Heading: "DIRECTORY", Kind: term.Path, Min: 12, Drop: 2, Style: term.Faint}, errorColumn}

var eventColumns = []term.Column{timeColumn, {Heading: "EVENT", Drop: 2}, {Heading: "INTEGRATION", Kind: term.Path}, {Heading: "CLASS", Kind: term.Whole},
	number("RETRIES", 1), errorColumn}

var alertColumns = []term.Column{timeColumn, {Heading: "INTEGRATION", Kind: term.Path}, {Heading: "FAILURES", Kind: term.Whole}, labelsColumn,
	{Heading: "DELIVERED", Min: 16}, {Heading: "LAST ERROR", Kind: term.Note, Style: term.Bad}}

var auditColumns = []term.Column{timeColumn, {Heading: "ACTOR", Drop: 2}, {Heading: "ACTION", Kind: term.Whole}, {Heading: "SUBJECT", Kind: term.Path},
	{Heading: "KIND", Kind: term.Whole, Gist: lastWord}, {Heading: "SESSION", Kind: term.Path, Drop: 4, Min: 13}, {Heading: "MESSAGE", Min: 30},
	{Heading: "CONTEXT", Kind: term.Note}}

// demoColumns are the columns of the lines of the log that the demo shows, by the names of their fields.
var demoColumns = []term.Column{{Heading: "TIMESTAMP", Kind: term.Time}, {Heading: "COMMAND"}, number("ATTEMPT", 0),
	{Heading: "STATUS", Kind: term.Whole}, {Heading: "ERROR_TYPE", Kind: term.Whole}, number("WAIT_TIME", 0)}

// requestColumns are the columns of a rehearsal.
func requestColumns(about string) []term.Column {
	return []term.Column{{Heading: "#", Kind: term.Number}, {Heading: "AT", Kind: term.Number}, {Heading: "GAP", Kind: term.Number}, {Heading: "REQUEST", Kind: term.Path, Min: 8},
		{Heading: about, Kind: term.Path, Drop: 1}, {Heading: "STEP", Min: 14}, {Heading: "ANSWER", Kind: term.Whole, Gist: withoutTime},
		{Heading: "TOKENS", Kind: term.Whole, Gist: withoutStatus}}
}

// withoutStatus is what stands before a comma: the class of a result, tokens without those of the cache.
func withoutStatus(result string) string {
	class, _, _ := strings.Cut(result, ",")
	return class
}

// lastWord is the type of a failure without its severity and category.
func lastWord(kind string) string { return kind[strings.LastIndex(kind, " ")+1:] }

// shortSession are both ends of a session's id, by which it can be told from others.
func shortSession(id string) string { return printable.CutMiddle(id, 17, "…") }

// withoutTime is an answer without how long it took: none, client left.
func withoutTime(answer string) string {
	text, _, _ := strings.Cut(answer, " after ")
	return text
}

// shortTokens is "1,234 in, 56 out" as 1,234/56.
func shortTokens(text string) string {
	in, out, ok := strings.Cut(strings.TrimSuffix(text, " out"), " in, ")
	if !ok {
		return text
	}
	return in + "/" + out
}

// oneLine makes a text fit into a table.
func oneLine(text string, most int) string {
	return printable.CutEnd(printable.Line(text), most, "…")
}

// machineTable are the machines of a fleet.
var machineTable = []term.Column{{Heading: "MACHINE", Kind: term.Path}, {Heading: "STATE", Kind: term.Whole}, number("SEEN", 0), number("CLOCK", 2),
	{Heading: "VERSION", Drop: 3}, {Heading: "LABELS", Drop: 4}}
