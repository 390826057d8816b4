// Package top is belay top.
package top

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/term"
	"github.com/belay-run/belay/internal/top"
	"github.com/belay-run/belay/internal/top/local"
)

// minInterval is how often the screen may be refreshed.
const minInterval = 100 * time.Millisecond

// Run is belay top.
func Run(ctx context.Context, r *request.Request) (int, error) {
	every, err := config.ParseDuration(r.Text("interval"))
	if err == nil && every < minInterval {
		err = fmt.Errorf("%q is less than %s", r.Text("interval"), minInterval)
	}
	if err != nil {
		return 0, &request.UsageError{Err: message.Error(message.InFlag("interval", err), err)}
	}
	dir, err := state.DefaultDir()
	if err != nil {
		return 0, err
	}
	own, _ := config.Prices() // a mistake in the file is not what is asked for here
	opened := &state.State{Dir: dir, Prices: own}
	question.LazyGC()
	t := &local.Source{View: view.Source{State: opened}}
	defer t.Close()
	switch {
	case r.On("json"):
		snapshot, err := t.JSON()
		if err != nil {
			return 0, err
		}
		return 0, term.JSON(r.Out, snapshot)
	case !top.Possible(r.In, r.Out.Raw()):
		return 0, printOnce(r.Out, t)
	}
	caught := signals.Catch()
	defer caught.Stop()
	sig, err := top.Show(ctx, r.In, r.Out.Raw(), term.Colored(true), caught, t, every)
	switch {
	case err != nil && ctx.Err() == nil:
		return 0, fmt.Errorf("cannot use the terminal: %w", err)
	case sig != 0:
		return 128 + int(sig), nil
	}
	return 0, ctx.Err()
}

// printOnce shows the screen once.
func printOnce(w *stdio.Output, t *local.Source) error {
	t.FindLeft()
	m := &top.Model{}
	m.Update(t.Snapshot())
	var b strings.Builder
	for _, row := range m.Rows(term.Columns(w), 0) {
		if !term.PaletteOf(w).Colored() {
			row = ansi.Strip(row)
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
	return term.Text(w, b.String())
}
