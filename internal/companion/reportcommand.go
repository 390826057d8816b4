//go:build !norecord

package companion

import (
	"context"
	"fmt"
	"net/url"

	"github.com/belay-run/belay/internal/companion/page"
	"github.com/belay-run/belay/internal/companion/view"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/term"
)

// reportCommand is belay report.
func reportCommand(ctx context.Context, from caller, args *arguments) (int, error) {
	format := args.text("format")
	if format != "html" && format != "md" {
		return 0, &usageError{err: message.Error(fmt.Sprintf("--format: %q is not html or md", format))}
	}
	q := newQuestion(from, args)
	err := q.ask(ctx)
	defer q.close()
	if err != nil {
		return 0, err
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	asked := url.Values{}
	for _, name := range []string{"since", "until", "profile", "name", "tag", "machine"} {
		if text := q.text(name); text != "" {
			asked.Set(name, text)
		}
	}
	if q.filter.Project != "" {
		asked.Set("project", q.filter.Project)
	}
	report, err := page.NewReport(ctx, &view.Source{State: &state.State{Dir: dir}, DB: q.db}, asked)
	if err != nil {
		return 0, err
	}
	data := []byte(report.Markdown())
	if format == "html" {
		if data, err = report.HTML(); err != nil {
			return 0, err
		}
	}
	path := q.text("output")
	if path == "" {
		return 0, term.Text(q.out, string(data))
	}
	// The errors and the projects of runs are in it.
	if err := replaceFile(path, data, 0o600); err != nil {
		return 0, message.Error(message.ReportNotWritten(err), err)
	}
	return 0, nil
}
