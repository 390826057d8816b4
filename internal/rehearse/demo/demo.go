// Package demo is the story of belay demo: a limit, a wait, a success and a circuit breaker, with commands that really run. [Ask] is the small client
// that they call.
package demo

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// script is what the stand-in answers to the requests of all commands of the demo.
const script = `
429(retry-after=2)                       # a limit …
200(text="Forty-two.")                   # … that passes
503x3                                    # down for three runs, and the breaker opens
200(text="Yes, I am back.")              # the probe
200(text="Still here.")                  # closes the breaker
`

// Demo shows belay at work. It runs every command that it prints, exactly as printed.
type Demo struct {
	Out   *stdio.Output
	Belay string // the executable
	// Start runs a program and returns its exit code.
	Start func(context.Context, supervise.Spec) (int, error)

	env   []string
	dir   string // where the commands run
	state string
	look  term.Look
}

// exited says that a command of the demo has failed, or was interrupted, which ends the demo with its exit code and no message.
type exited struct {
	command string
	code    int
}

func (e exited) interrupted() bool { return e.code > 128 }

func (e exited) Error() string {
	return fmt.Sprintf("the demo failed: belay %s exited %d", e.command, e.code)
}

// Play plays the demo. The code is that of a command that was interrupted.
func (d *Demo) Play(ctx context.Context) (code int, err error) {
	api, err := rehearse.Start(script)
	if err != nil {
		return 0, err
	}
	defer api.Close()
	d.dir, d.look = api.Dir(), term.LookOf(d.Out)
	if d.state, err = makeState(); err != nil {
		return 0, err
	}
	bin, err := linkAsk(api.Dir())
	if err != nil {
		return 0, err
	}
	d.env = d.environ(api, bin)
	err = d.play(ctx)
	if e, ok := errors.AsType[exited](err); ok && e.interrupted() {
		return e.code, nil
	}
	return 0, err
}

// play runs the scenes of the demo in order.
func (d *Demo) play(ctx context.Context) error {
	d.tell(`A stand-in for an API listens on loopback and fails on purpose; "ask" is a small client of it.
Nothing is spent. Times are short here, so that you need not wait.`)

	d.tell(`1. A limit: the API says "too many requests, come back in 2 seconds". Belay waits, and asks again.`)
	if err := d.run(ctx, `run --max-retries 3 -- ask "What is six times seven?"`); err != nil {
		return err
	}

	d.tell(`2. An outage: after three failed runs in a row, the breaker opens. For 3 seconds (a minute by default)
   no run that shares the gate "api" calls the service. Then one probe finds out whether it is back.`)
	if err := d.outage(ctx); err != nil {
		return err
	}

	d.tell(`3. The service answers, and answers again: the breaker is closed.`)
	for _, command := range []string{`run --gate api -- ask "Really?"`, `gates`} {
		if err := d.run(ctx, command); err != nil {
			return err
		}
	}

	d.tell("4. The record: one line of JSON for each attempt, in " + term.Tilde(filepath.Join(d.state, "log.jsonl")))
	if err := d.showLog(); err != nil {
		return err
	}
	d.tell(fmt.Sprintf(`Your own runs are recorded in %s. Now try: belay run -- a command of yours,
or, with an agent installed: belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi`, term.Tilde(filepath.Join(filepath.Dir(d.state), "log.jsonl"))))
	return nil
}

// outage runs commands that fail, and one that the breaker stops, and looks at the gates meanwhile.
func (d *Demo) outage(ctx context.Context) error {
	const gate = `--gate api --breaker-failures 3 --breaker-open 3s`
	for range 2 {
		err := d.run(ctx, `run `+gate+` --max-retries 0 -- ask "Are you there?"`)
		if e, ok := errors.AsType[exited](err); !ok || e.interrupted() {
			return cmp.Or(err, message.Error("the demo failed: every call succeeded"))
		}
	}
	over := make(chan struct{})
	var err error
	go func() {
		defer close(over)
		err = d.run(ctx, `run `+gate+` --max-retries 5 --base-delay 0.3s -- ask "Are you there?"`)
	}()
	if seen := d.waitUntilOpen(ctx, over); seen != "" {
		d.tell(`   Meanwhile, from another terminal:`)
		d.shows(`gates`)
		io.WriteString(d.Out, seen)
		d.tell(`   Back in the first one, when the time is up:`)
	}
	<-over
	return err
}

// waitUntilOpen waits until the breaker is open and a run waits for it. It returns what belay gates printed then: by a second call
// the breaker could have closed.
func (d *Demo) waitUntilOpen(ctx context.Context, over <-chan struct{}) (seen string) {
	for {
		var out bytes.Buffer
		d.belay(ctx, "gates", &out, nil)
		for line := range strings.Lines(printable.Text(out.String())) {
			if f := strings.Fields(line); len(f) > 4 && f[1] == "open" && f[4] == "1" {
				return out.String()
			}
		}
		select {
		case <-over:
			return ""
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// environ is what the commands of the demo see.
func (d *Demo) environ(api *rehearse.API, bin string) []string {
	over := append(api.Environ(), state.DirVar+"="+d.state, "XDG_CONFIG_HOME="+filepath.Join(d.dir, "none"),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if d.look.Palette.Colored() {
		over = append(over, "CLICOLOR_FORCE=1")
	}
	// The user's own settings must not change the demo.
	ours := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "BELAY_") })
	return rehearse.Over(ours, over)
}

// run shows a command of belay and runs it.
func (d *Demo) run(ctx context.Context, command string) error {
	d.shows(command)
	return d.belay(ctx, command, d.Out, d.Out)
}

func (d *Demo) shows(command string) {
	d.look.Palette.Text(d.Out, term.Strong, "$ belay "+command+"\n")
}

// belay runs a command of belay.
func (d *Demo) belay(ctx context.Context, command string, stdout, stderr io.Writer) error {
	args := append([]string{"belay"}, splitCommand(command)...)
	code, err := d.Start(ctx, supervise.Spec{Path: d.Belay, Args: args, Env: d.env, Dir: d.dir, Stdout: stdout, Stderr: stderr, Timeout: time.Minute})
	switch {
	case err != nil:
		return err
	case code != 0:
		return exited{command, code}
	}
	return nil
}

func (d *Demo) tell(text string) {
	d.look.Palette.Text(d.Out, term.Accent, "\n"+text+"\n")
}

// splitCommand splits a command at spaces outside of double quotes; there is no shell.
func splitCommand(command string) []string {
	var list []string
	for i, part := range strings.Split(command, `"`) {
		if i%2 == 1 {
			list = append(list, part)
			continue
		}
		list = append(list, strings.Fields(part)...)
	}
	return list
}

// columns are those of the lines of the log that the demo shows, by the names of their fields.
var columns = []term.Column{{Heading: "TIMESTAMP", Kind: term.Time}, {Heading: "COMMAND"}, {Heading: "ATTEMPT", Kind: term.Number},
	{Heading: "STATUS", Kind: term.Whole}, {Heading: "ERROR_TYPE", Kind: term.Whole}, {Heading: "WAIT_TIME", Kind: term.Number}}

// showLog shows the attempts of the demo.
func (d *Demo) showLog() error {
	f, err := (&state.State{Dir: d.state}).OpenLog()
	if err != nil {
		return err
	}
	defer f.Close()
	var rows [][]term.Piece
	for dec := json.NewDecoder(f); ; {
		var e struct {
			Timestamp time.Time `json:"timestamp"`
			Command   string    `json:"command"`
			Attempt   int       `json:"attempt"`
			Status    string    `json:"status"`
			ErrorType string    `json:"error_type"`
			WaitTime  float64   `json:"wait_time"`
		}
		if err := dec.Decode(&e); err == io.EOF {
			return term.Sheet{Columns: columns, Rows: rows}.WriteAs(d.Out, d.look)
		} else if err != nil {
			return err
		}
		wait, style := "", term.Bad
		switch e.Status {
		case "success":
			style = term.Good
		case "retry":
			style = term.Warning
		}
		if e.WaitTime > 0 {
			wait = fmt.Sprintf("%.1f", e.WaitTime)
		}
		rows = append(rows, term.Cells(e.Timestamp.Local().Format("15:04:05"), e.Command, e.Attempt, term.Styled(style, e.Status), e.ErrorType, wait))
	}
}
