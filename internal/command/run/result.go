package run

import (
	"bufio"
	"cmp"
	"errors"
	"io"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent/generic"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/verdict"
)

// writeTo writes the result and closes the file.
func writeTo(out io.WriteCloser, r *belaytype.Result) error {
	return errors.Join(encode(out, r), out.Close())
}

func encode(w io.Writer, r *belaytype.Result) error {
	b := bufio.NewWriter(w)
	return errors.Join(r.WriteJSON(b), b.Flush())
}

// writeResult replaces the command's stdout by Belay's result, if that was asked for.
func writeResult(w io.Writer, format string, r *belaytype.Result) error {
	switch format {
	case "json":
		return encode(w, r)
	case "text":
		return r.WriteText(w)
	}
	return nil
}

// refuse gives a caller that reads results one also where nothing could be started for how it was asked: wherever that
// is known to be wanted, by the settings or, where those are what is wrong, by the flags. The error is still printed.
func refuse(std stdio.Streams, given config.Given, s *config.Settings, err error) error {
	format, path := given["output-format"], given["result-file"]
	if s != nil {
		format, path = s.OutputFormat, s.ResultFile
	}
	if format == "" && path == "" {
		return err
	}
	text, code := command.Sentence(err)
	r := &belaytype.Result{Error: text, Errors: []string{text}, ExitCode: code, ChildCode: -1, Usage: verdict.Usage{CostUSD: new(float64)}, Profile: cmp.Or(given["profile"], generic.Name),
		Verdict: verdict.Verdict{Class: verdict.InvalidRequest, Rule: "usage", Evidence: text, Sent: verdict.SentNo}}
	switch code {
	case engine.CodeTimeout:
		r.Verdict.Class, r.Verdict.Rule = verdict.Timeout, "stdin"
	case command.CodeStopped:
		r.Verdict.Class, r.Verdict.Rule = verdict.Interrupted, "cancelled"
	}
	if werr := writeResult(std.Out, format, r); werr != nil {
		return command.Fail(werr)
	}
	if file, ferr := openResultFile(std, path); ferr == nil && file != nil {
		if werr := file.write(r); werr != nil {
			term.Printf(std.Err, "belay: %s\n", message.ResultNotWritten(path, werr))
		}
	}
	return err
}
