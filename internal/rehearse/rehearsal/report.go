package rehearsal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/term"
)

// Report is what a rehearsal has shown.
type Report struct {
	ExitCode int // of belay run

	script   string
	begun    time.Time
	requests []rehearse.Request
	unused   []string
	result   json.RawMessage // as belay run has written it; nil if it did not
}

// Request is one in the form for programs. Fields are only ever added.
type Request struct {
	At      time.Time      `json:"at"`
	GapMS   int64          `json:"gap_ms"`
	API     string         `json:"api"`
	Method  string         `json:"method"`
	Path    string         `json:"path"`
	Main    bool           `json:"main"`
	Step    string         `json:"step"`
	Status  int            `json:"status"`
	End     rehearse.End   `json:"end"`
	TookMS  int64          `json:"took_ms"`
	Model   string         `json:"model"`
	Stream  bool           `json:"stream"`
	Session string         `json:"session_id"`
	Usage   rehearse.Usage `json:"usage"`
}

// Requests are requests in the form for programs.
func Requests(requests []rehearse.Request) []Request {
	list := []Request{}
	for _, q := range requests {
		list = append(list, Request{q.At.UTC(), q.Gap.Milliseconds(), q.API, q.Method, q.Path, q.Main, q.Step, q.Status, q.End,
			q.Took.Milliseconds(), q.Model, q.Stream, q.Session, q.Usage})
	}
	return list
}

// WriteJSON writes it for programs.
func (r *Report) WriteJSON(w io.Writer) error {
	unused := append([]string{}, r.unused...)
	return term.JSON(w, struct {
		SchemaVersion int             `json:"schema_version"`
		Script        string          `json:"script"`
		Requests      []Request       `json:"requests"`
		Unused        []string        `json:"unused_steps"`
		Charged       rehearse.Usage  `json:"charged"`
		Result        json.RawMessage `json:"result"`
		ExitCode      int             `json:"exit_code"`
	}{1, r.script, Requests(r.requests), unused, r.charged(), r.result, r.ExitCode})
}

// charged is the sum over all requests of the work.
func (r *Report) charged() (sum rehearse.Usage) {
	for _, q := range r.requests {
		sum.Input += q.Usage.Input
		sum.Output += q.Usage.Output
		sum.CacheRead += q.Usage.CacheRead
		sum.CacheCreate += q.Usage.CacheCreate
	}
	return sum
}

// Table is a table of requests; those that are not part of the work are left out. Times count from when the program began.
func Table(requests []rehearse.Request, begun time.Time) term.Sheet {
	sheet := term.Sheet{Columns: columns(about(requests)), Indent: "  "}
	for _, q := range requests {
		if !q.Main {
			continue
		}
		gap := ""
		if len(sheet.Rows) > 0 {
			gap = seconds(q.Gap)
		}
		sheet.Rows = append(sheet.Rows, term.Cells(len(sheet.Rows)+1, seconds(q.At.Sub(begun)), gap, q.Method+" "+q.Path, q.Model,
			shorten(q.Step), term.Styled(answerStyle(q), answerText(q)), tokens(q.Usage)))
	}
	return sheet
}

// WriteText writes it for people.
func (r *Report) WriteText(w io.Writer) error {
	side := map[string]int{}
	for _, q := range r.requests {
		if !q.Main {
			side[fmt.Sprintf("%s %s (%d)", q.Method, q.Path, q.Status)]++
		}
	}
	sheet := Table(r.requests, r.begun)
	p := term.PaletteOf(w)
	say := func(style term.Style, first, rest string) error {
		return errors.Join(p.Text(w, term.Faint, "belay: "), p.Text(w, style, printable.Line(first)), term.Printf(w, "%s\n", rest))
	}
	main := len(sheet.Rows)
	err := say(term.Plain, "", fmt.Sprintf("rehearsed %s: %s", shorten(strings.Join(strings.Fields(r.script), " ")), message.Count(main, "request")))
	if main > 0 {
		err = errors.Join(err, sheet.Write(w))
	}
	for _, line := range r.remarks(side) {
		err = errors.Join(err, term.Printf(w, "  %s\n", line))
	}
	outcome, ok := r.outcome()
	style := term.Bad
	if ok {
		style = term.Good
	}
	verdict, rest, _ := strings.Cut(outcome, ";")
	return errors.Join(err, say(style, verdict, ";"+rest))
}

// about is the heading of the column for what is requested: a model, or an operation of GitHub.
func about(requests []rehearse.Request) string {
	for _, q := range requests {
		if q.API != "github" {
			return "MODEL"
		}
	}
	return "ABOUT"
}

// remarks are the lines below the table, for what it does not show.
func (r *Report) remarks(side map[string]int) (lines []string) {
	if len(side) > 0 {
		var list []string
		for what, n := range side {
			if n > 1 {
				what += fmt.Sprintf(" ×%d", n)
			}
			list = append(list, what)
		}
		lines = append(lines, "other requests, which take no step: "+strings.Join(list, ", "))
	}
	if len(r.unused) > 0 {
		lines = append(lines, "not reached: "+shorten(strings.Join(r.unused, ", ")))
	}
	if strings.Contains(r.script, "refuse") {
		lines = append(lines, "refused connections are not counted")
	}
	return lines
}

// outcome is the result of belay run in one line, and whether its verdict is ok.
func (r *Report) outcome() (text string, ok bool) {
	var result struct {
		Success   bool    `json:"success"`
		ErrorType *string `json:"error_type"`
		Error     *string `json:"error"`
		RetryAt   *string `json:"retry_at"`
		Attempts  int     `json:"attempts"`
		Waited    float64 `json:"total_wait_time"`
		Profile   string  `json:"profile"`
		Usage     struct {
			In        int      `json:"input_tokens"`
			Out       int      `json:"output_tokens"`
			Cost      *float64 `json:"total_cost_usd"`
			Estimated bool     `json:"estimated"`
		} `json:"usage"`
	}
	if r.result == nil || json.Unmarshal(r.result, &result) != nil {
		return fmt.Sprintf("belay run left no result; exit code %d", r.ExitCode), false
	}
	class := "ok"
	if result.ErrorType != nil {
		class = *result.ErrorType
	}
	text = fmt.Sprintf("verdict %s; %s, waited %.1fs", class, message.Count(result.Attempts, "attempt"), result.Waited)
	if u := result.Usage; u.In+u.Out > 0 {
		text += fmt.Sprintf("; %s reports %d tokens in, %d out", result.Profile, u.In, u.Out)
		if u.Cost != nil {
			text += ", " + printable.Dollars(*u.Cost)
			if u.Estimated {
				text += " (estimated)"
			}
		}
	}
	if result.RetryAt != nil {
		text += "; retry at " + *result.RetryAt
	}
	return fmt.Sprintf("%s; exit code %d", text, r.ExitCode), class == "ok"
}

// answerText says what a request got.
func answerText(q rehearse.Request) string {
	text := "none"
	if q.Status != 0 {
		text = fmt.Sprint(q.Status)
	}
	switch q.End {
	case rehearse.Whole:
		return text
	case rehearse.CutByUs:
		return text + ", cut"
	}
	return fmt.Sprintf("%s, %s after %s", text, string(q.End), seconds(q.Took))
}

// answerStyle is the style of that: an answer that asks to come back later is not as bad as others.
func answerStyle(q rehearse.Request) term.Style {
	switch {
	case q.End != rehearse.Whole:
	case q.Status == 200, q.Status == 201, q.Status == 204:
		return term.Good
	case q.Status == 429, q.Status == 529:
		return term.Warning
	}
	return term.Bad
}

func tokens(u rehearse.Usage) string {
	if u == (rehearse.Usage{}) {
		return ""
	}
	text := fmt.Sprintf("%d in / %d out", u.Input, u.Output)
	if u.CacheRead+u.CacheCreate > 0 {
		text += fmt.Sprintf(", cache %d read / %d written", u.CacheRead, u.CacheCreate)
	}
	return text
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }

// shorten cuts a text to the width of a column.
func shorten(text string) string { return printable.CutEnd(printable.Line(text), 60, "…") }

// columns are those of the table of requests.
func columns(about string) []term.Column {
	return []term.Column{{Heading: "#", Kind: term.Number}, {Heading: "AT", Kind: term.Number}, {Heading: "GAP", Kind: term.Number}, {Heading: "REQUEST", Kind: term.Path, Min: 8},
		{Heading: about, Kind: term.Path, Drop: 1}, {Heading: "STEP", Min: 14}, {Heading: "ANSWER", Kind: term.Whole, Gist: withoutTime},
		{Heading: "TOKENS", Kind: term.Whole, Gist: withoutCache}}
}

// withoutTime is an answer without how long it took: none, client left.
func withoutTime(answer string) string {
	text, _, _ := strings.Cut(answer, " after ")
	return text
}

// withoutCache are the tokens of a request without those of the cache.
func withoutCache(tokens string) string {
	text, _, _ := strings.Cut(tokens, ",")
	return text
}
