package cli

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/verdict"
)

// maxShown is how much of the result the text form shows.
const maxShown = 2000

// writeResult replaces the command's stdout by Belay's result, if that was asked for.
func writeResult(w io.Writer, format string, r *engine.Result) error {
	switch format {
	case "json":
		b := bufio.NewWriter(w)
		return errors.Join(r.WriteJSON(b), b.Flush())
	case "text":
		return writeText(w, r)
	}
	return nil
}

// refuse gives a caller that reads results one also where nothing could be started for how it was asked: wherever that
// is known to be wanted, by the settings or, where those are what is wrong, by the flags. The error is said as ever.
func refuse(given config.Given, s *config.Settings, err error) error {
	format, path := given["output-format"], given["result-file"]
	if s != nil {
		format, path = s.OutputFormat, s.ResultFile
	}
	if format == "" && path == "" {
		return err
	}
	text, code := sentence(err)
	r := &engine.Result{Err: text, Errors: []string{text}, ExitCode: code, ChildCode: -1, Usage: verdict.Usage{CostUSD: new(float64)}, Profile: cmp.Or(given["profile"], generic.Name),
		Verdict: verdict.Verdict{Class: verdict.InvalidRequest, Rule: "usage", Evidence: text, Sent: verdict.SentNo}}
	if code == engine.CodeTimeout {
		r.Verdict.Class, r.Verdict.Rule = verdict.Timeout, "stdin"
	}
	if werr := writeResult(os.Stdout, format, r); werr != nil {
		return &failure{werr}
	}
	if file, ferr := openResultFile(path); ferr == nil && file != nil {
		if werr := file.write(r); werr != nil {
			fmt.Fprintf(os.Stderr, "belay: the result could not be written to %s: %v\n", path, werr)
		}
	}
	return err
}

func writeText(w io.Writer, r *engine.Result) error {
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
	if text := []rune(strings.ToValidUTF8(string(shown), "�")); len(text) > maxShown {
		fmt.Fprintf(&b, "%s… (truncated)\n", string(text[:maxShown]))
	} else if len(text) > 0 {
		fmt.Fprintf(&b, "%s\n", strings.TrimSuffix(string(text), "\n"))
	}
	for _, e := range earlier(r) {
		fmt.Fprintf(&b, "Earlier: %s\n", e)
	}
	if r.Err != "" {
		fmt.Fprintf(&b, "Error: %s\n", r.Err)
	}
	if r.Verdict.SessionID != "" {
		fmt.Fprintf(&b, "Session: %s\n", r.Verdict.SessionID)
	}
	if u := r.Usage; r.Session != "" || u.InputTokens+u.OutputTokens > 0 { // of what costs nothing there is nothing to say
		fmt.Fprintf(&b, "Tokens: %s input / %s output\n", thousands(u.InputTokens), thousands(u.OutputTokens))
		if u.CostUSD != nil {
			fmt.Fprintf(&b, "Cost: $%.4f\n", *u.CostUSD)
		}
	}
	fmt.Fprintf(&b, "Duration: %sms\n", thousands(r.Duration.Milliseconds()))
	fmt.Fprintf(&b, "Attempts: %d, waited %.1fs\n", r.Attempts, r.Waited.Seconds())
	_, err = io.WriteString(w, b.String())
	return err
}

// earlier are the errors before the last one, which is the result's.
func earlier(r *engine.Result) []string {
	if r.Err == "" || len(r.Errors) == 0 {
		return r.Errors
	}
	return r.Errors[:len(r.Errors)-1]
}

// writeJSONLines writes each of a list on a line of its own.
func writeJSONLines[T any](w io.Writer, list []T) error {
	enc := json.NewEncoder(w)
	for _, e := range list {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// thousands writes 1234567 as 1,234,567.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
