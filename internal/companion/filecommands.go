//go:build !norecord

package companion

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/term"
)

// reportCommand is belay report.
func reportCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	format := args.text("format")
	if format != "html" && format != "md" {
		return 0, &usageError{err: message.Error(fmt.Sprintf("--format: %q is not html or md", format))}
	}
	return answered(ctx, from, args, func(q *question) error {
		asked := url.Values{"project": {q.filter.Project}}
		for _, name := range []string{"since", "until", "profile", "name", "tag", "machine"} {
			asked.Set(name, q.text(name))
		}
		report, err := page.NewReport(ctx, &view.Source{State: q.state, DB: q.db}, asked)
		if err != nil {
			return err
		}
		data := []byte(report.Markdown())
		if format == "html" {
			if data, err = report.HTML(); err != nil {
				return err
			}
		}
		path := q.text("output")
		if path == "" {
			return term.Text(q.out, string(data))
		}
		// The errors and the projects of runs are in it.
		if err := replaceFile(path, data, 0o600); err != nil {
			return message.Error(message.ReportNotWritten(err), err)
		}
		return nil
	})
}

// metrics is belay metrics.
func (q *question) metrics(ctx context.Context) error {
	snap, err := metrics.Collect(ctx, q.db, q.state)
	if err != nil {
		return err
	}
	path := q.text("output")
	if path == "" {
		return term.Text(q.out, string(snap.Text()))
	}
	// A collector of metrics is another user, as a rule.
	if err := replaceFile(path, snap.Text(), 0o644); err != nil {
		return message.Error(fmt.Sprintf("cannot write metrics to %s: %v", path, err), err)
	}
	return nil
}

// replaceFile replaces the file of --output as a whole. Until then it has a name that no collector of metrics takes for one of its files.
func replaceFile(path string, data []byte, mode fs.FileMode) error {
	f, err := atomicfile.Create(path, ".belay-output-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode)); err != nil {
		return errors.Join(err, f.Discard())
	}
	return f.Commit()
}
