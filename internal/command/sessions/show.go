package sessions

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/belay-run/belay/internal/agent/history"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/term"
)

// maxShown is how much of a part is shown, in bytes.
const maxShown = 2000

// Show is belay sessions show.
func Show(_ context.Context, r *request.Request) (int, error) {
	s, err := find(r)
	if err != nil {
		return 1, err
	}
	n, err := strconv.Atoi(r.Text("n"))
	if err != nil || n < 0 {
		return 2, &request.UsageError{Err: message.Error("-n: " + strconv.Quote(r.Text("n")) + " is not a number of parts")}
	}
	var last []history.Entry // of all there are
	before := 0
	err = history.Tell(s.cli.Records, s.path, maxShown, func(e history.Entry) {
		e.Text = redact.Text(printable.Text(e.Text))
		if n > 0 && len(last) >= n {
			last, before = last[1:], before+1
		}
		last = append(last, e)
	})
	switch {
	case err != nil:
		return 1, err
	case r.On("json"):
		return 0, term.JSONLines(r.Out, last)
	}
	if before > 0 {
		if err := term.Printf(r.Out, "… %d parts before. To see all: belay sessions show -n 0 %s\n\n", before, s.id); err != nil {
			return 1, err
		}
	}
	for _, e := range last {
		if err := show(r, &e); err != nil {
			return 1, err
		}
	}
	return 0, nil
}

func show(r *request.Request, e *history.Entry) error {
	head := e.Who + " " + e.Kind
	if e.Kind == "text" {
		head = e.Who
	}
	if e.Tool != "" {
		head += " " + printable.Line(e.Tool)
	}
	if !e.At.IsZero() {
		head = e.At.Local().Format("15:04:05") + " " + head
	}
	if u := e.Usage; u != nil {
		head += fmt.Sprintf(" (%d tokens in, %d out)", u.InputTokens+u.CacheReadInputTokens+u.CacheCreationInputTokens, u.OutputTokens)
	}
	err := term.Printf(r.Out, "%s\n", head)
	if body := strings.TrimRight(e.Text, "\n"); body != "" {
		err = errors.Join(err, term.Printf(r.Out, "  %s\n", strings.ReplaceAll(body, "\n", "\n  ")))
	}
	return err
}
