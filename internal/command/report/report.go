// Package report is belay report: what belay ui shows of the past, in one file.
package report

import (
	"context"
	"fmt"
	"net/url"

	"github.com/belay-run/belay/internal/atomicfile"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay report.
func Run(ctx context.Context, r *request.Request) (int, error) {
	format := r.Text("format")
	if format != "html" && format != "md" {
		return 0, &request.UsageError{Err: message.Error(fmt.Sprintf("--format: %q is not html or md", format))}
	}
	return question.Answer(ctx, r, func(ctx context.Context, q *question.Question) error {
		asked := url.Values{"project": {q.Filter.Project}}
		for _, name := range []string{"since", "until", "profile", "name", "tag", "machine"} {
			asked.Set(name, q.Text(name))
		}
		report, err := page.NewReport(ctx, &view.Source{State: q.State, DB: q.DB}, asked)
		if err != nil {
			return err
		}
		data := []byte(report.Markdown())
		if format == "html" {
			if data, err = report.HTML(); err != nil {
				return err
			}
		}
		path := q.Text("output")
		if path == "" {
			return term.Text(q.Out, string(data))
		}
		// The errors and the projects of runs are in it.
		if err := atomicfile.Write(path, ".belay-output-*.tmp", data); err != nil {
			return message.Error(message.ReportNotWritten(err), err)
		}
		return nil
	})
}
