package belaytype

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/label"
	"github.com/belay-run/belay/internal/printable"
)

// maxShown is how much of the result the text form shows, in characters.
const maxShown = 2000

// WriteText writes the result for a person to read, without the control characters that the command has printed.
func (r *Result) WriteText(w io.Writer) error {
	var b strings.Builder
	status := "FAILED"
	if r.Success {
		status = "SUCCESS"
	}
	fmt.Fprintf(&b, "Status: %s\n", status)
	shown, err := io.ReadAll(io.LimitReader(r.Output.Reader(), 4*maxShown+1))
	if err != nil {
		return err
	}
	if text := []rune(printable.Text(string(shown))); len(text) > maxShown {
		fmt.Fprintf(&b, "%s… (truncated)\n", string(text[:maxShown]))
	} else if len(text) > 0 {
		fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(string(text), "\n"))
	}
	for _, e := range r.earlier() {
		fmt.Fprintf(&b, "Earlier: %s\n", printable.Line(e))
	}
	if r.Error != "" {
		fmt.Fprintf(&b, "Error: %s\n", printable.Line(r.Error))
	}
	if r.Fallback != "" {
		fmt.Fprintf(&b, "Fallback: %s\n", printable.Line(r.Fallback))
	}
	if r.Verdict.SessionID != "" {
		fmt.Fprintf(&b, "Session: %s\n", printable.Line(r.Verdict.SessionID))
	}
	if u := r.Usage; r.Session != "" || u.InputTokens+u.OutputTokens > 0 { // a run of an agent, or one that has used tokens
		fmt.Fprintf(&b, "Tokens: %s input / %s output\n", thousands(u.InputTokens), thousands(u.OutputTokens))
		if u.CostUSD != nil {
			least, estimated := "", ""
			if u.Unknown {
				least = "at least "
			}
			if u.Estimated {
				estimated = " (estimated)"
			}
			fmt.Fprintf(&b, "Cost: %s%s%s\n", least, printable.Dollars(*u.CostUSD), estimated)
		}
	}
	if text := (label.Labels{Name: r.Name, Tags: r.Tags}).String(); text != "" {
		fmt.Fprintf(&b, "Labels: %s\n", printable.Line(text))
	}
	fmt.Fprintf(&b, "Duration: %sms\n", thousands(r.Duration.Milliseconds()))
	fmt.Fprintf(&b, "Attempts: %d, waited %.1fs\n", r.Attempts, r.Waited.Seconds())
	_, err = io.WriteString(w, b.String())
	return err
}

// earlier are the errors before the last one, which is the result's.
func (r *Result) earlier() []string {
	if r.Error == "" || len(r.Errors) == 0 {
		return r.Errors
	}
	return r.Errors[:len(r.Errors)-1]
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
