package companion

import (
	"bytes"
	"cmp"
	"context"
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
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// demoScript is what the stand-in answers to the requests of all commands of the demo.
const demoScript = `
429(retry-after=2)                       # a limit …
200(text="Forty-two.")                   # … that passes
503x3                                    # down for three runs, and the breaker opens
200(text="Yes, I am back.")              # the probe
200(text="Still here.")                  # closes the breaker
`

// demo shows belay at work. It runs every command that it prints, exactly as printed.
type demo struct {
	from  caller
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

func demoCommand(ctx context.Context, from caller, _ *arguments) (int, error) {
	api, err := rehearse.Start(demoScript)
	if err != nil {
		return 0, err
	}
	defer api.Close()
	d := &demo{from: from, dir: api.Dir(), look: term.LookOf(from.Out)}
	if d.state, err = demoState(); err != nil {
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
func (d *demo) play(ctx context.Context) error {
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

	d.tell("4. The record: one line of JSON for each attempt, in " + tilde(filepath.Join(d.state, "log.jsonl")))
	if err := d.showLog(); err != nil {
		return err
	}
	d.tell(fmt.Sprintf(`Your own runs are recorded in %s. Now try: belay run -- a command of yours,
or, with an agent installed: belay rehearse --script '429(retry-after=2)x2, 200' -- claude -p hi`, tilde(filepath.Join(filepath.Dir(d.state), "log.jsonl"))))
	return nil
}

// outage runs commands that fail, and one that the breaker stops, and looks at the gates meanwhile.
func (d *demo) outage(ctx context.Context) error {
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
		io.WriteString(d.from.Out, seen)
		d.tell(`   Back in the first one, when the time is up:`)
	}
	<-over
	return err
}

// waitUntilOpen waits until the breaker is open and a run waits for it. It returns what belay gates printed then: by a second call
// the breaker could have closed.
func (d *demo) waitUntilOpen(ctx context.Context, over <-chan struct{}) (seen string) {
	for {
		var out bytes.Buffer
		d.start(ctx, "gates", &out, nil)
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
func (d *demo) environ(api *rehearse.API, bin string) []string {
	over := append(api.Environ(), state.DirVar+"="+d.state, "XDG_CONFIG_HOME="+filepath.Join(d.dir, "none"),
		"PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	if d.look.Palette.Colored() {
		over = append(over, "CLICOLOR_FORCE=1")
	}
	// The user's own settings must not change the demo.
	ours := slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "BELAY_") })
	return environment(ours, over)
}

// run shows a command of belay and runs it.
func (d *demo) run(ctx context.Context, command string) error {
	d.shows(command)
	return d.start(ctx, command, d.from.Out, d.from.Out)
}

func (d *demo) shows(command string) {
	d.look.Palette.Text(d.from.Out, term.Strong, "$ belay "+command+"\n")
}

// start runs a command of belay.
func (d *demo) start(ctx context.Context, command string, stdout, stderr io.Writer) error {
	args := append([]string{"belay"}, splitCommand(command)...)
	code, err := superviseChild(ctx, supervise.Spec{Path: d.from.path, Args: args, Env: d.env, Dir: d.dir, Stdout: stdout, Stderr: stderr,
		Placement: d.from.shared(), Timeout: time.Minute})
	switch {
	case err != nil:
		return err
	case code != 0:
		return exited{command, code}
	}
	return nil
}

func (d *demo) tell(text string) {
	d.look.Palette.Text(d.from.Out, term.Accent, "\n"+text+"\n")
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
