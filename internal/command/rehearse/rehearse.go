// Package rehearse is belay rehearse: a command against stand-ins that fail on purpose, and a report.
package rehearse

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/rehearse/rehearsal"
)

// Run is belay rehearse. The exit code is belay run's.
func Run(ctx context.Context, r *request.Request) (int, error) {
	asked, err := options(r)
	if err != nil {
		return 0, err
	}
	report, err := asked.Perform(ctx)
	if wrong, ok := errors.AsType[*rehearse.SyntaxError](err); ok {
		return 0, &request.UsageError{Err: wrong, More: "  " + strings.ReplaceAll(wrong.Caret(), "\n", "\n  ") + "\n"}
	}
	if err != nil {
		return 0, err
	}
	return report.ExitCode, write(r, report)
}

// options reads the flags.
func options(r *request.Request) (*rehearsal.Rehearsal, error) {
	asked := &rehearsal.Rehearsal{Script: r.Text("script"), Dir: r.Text("dir"), ResultFile: r.Text("result-file"), Belay: r.Belay, Run: r.Rest}
	file := r.Text("script-file")
	if name, isFile := strings.CutPrefix(asked.Script, "@"); isFile {
		file = name
	}
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, &request.UsageError{Err: message.Error(fmt.Sprintf("cannot read the script: %v", err), err)}
		}
		asked.Script = string(text)
	}
	if asked.Dir != "" {
		err := os.MkdirAll(asked.Dir, 0o700)
		if err != nil {
			return nil, &request.UsageError{Err: fmt.Errorf("--dir: %w", err)}
		}
		if asked.Dir, err = filepath.Abs(asked.Dir); err != nil {
			return nil, err
		}
	}
	asked.Start = func(ctx context.Context, args, env []string) (int, error) {
		stdout := r.Out.Raw()
		if r.On("json") { // the report replaces it
			stdout = nil
		}
		return signals.RunWith(ctx, r.Streams, args, env, stdout)
	}
	return asked, nil
}

// write puts the report where it was asked for.
func write(r *request.Request, report *rehearsal.Report) error {
	if path := r.Text("report-file"); path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
		if err == nil {
			err = errors.Join(report.WriteJSON(f), f.Close())
		}
		if err != nil {
			r.Say(message.ReportNotWritten(err)) // the exit code stays that of the run, which is done
		}
	}
	if r.On("json") {
		return report.WriteJSON(r.Out)
	}
	return report.WriteText(r.Err)
}
