package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// detachedArg is the first argument of a belay that was detached. The id of the run, the time that it starts at and the whole command line follow.
const detachedArg = "__detached"

// underWay is what a detached belay tells the one that has started it, once it is on its way. One that ends before has been refused.
const underWay = "under way\n"

// detachedRun is what is to be detached.
type detachedRun struct {
	command string
	name    string
	input   func(ctx context.Context, in io.Reader) ([]byte, error) // nil if it reads nothing
	quiet   bool
}

// argsKey is the key of the whole command line in a context.
type argsKey struct{}

// detach starts a belay that goes on by itself with the same command line, and prints the id of its run. If that one is refused, its output and its exit code are ours.
//
// What the run reads goes through a pipe into its memory; its output is spooled.
func detach(ctx context.Context, std stdio.Streams, l *later, r detachedRun) error {
	self, err := command.Executable()
	if err != nil {
		return command.Fail(err)
	}
	var input []byte
	if r.input != nil {
		if input, err = r.input(ctx, std.In); err != nil {
			return err
		}
	}
	state, err := command.OpenState()
	if err != nil {
		return err
	}
	spools, id := state.Spools(), engine.NewID()
	if err = state.Prepare(); err == nil {
		err = spools.Create(spool.Header{ID: id, Command: r.command, Name: r.name, Started: time.Now()})
	}
	if err != nil {
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	at := ""
	if !l.schedule.At.IsZero() {
		at = l.schedule.At.Format(time.RFC3339Nano)
	}
	given, _ := ctx.Value(argsKey{}).([]string)
	p, report, err := startDetached(self, append([]string{self, detachedArg, id, at}, given...), spools, id, input)
	if err != nil {
		spools.Remove(id)
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	defer report.Close()
	if line, _ := bufio.NewReader(report).ReadString('\n'); line == underWay {
		term.Line(std.Out, id)
		if !r.quiet {
			command.Say(std.Err, fmt.Sprintf("running in the background. Its output is kept on disk until it is shown: belay attach %s", command.ShortID(id)))
		}
		p.Release()
		return nil
	}
	ended, err := p.Wait()
	if err != nil {
		return command.Fail(err)
	}
	a := &attachment{std: std, spools: spools, id: id}
	if err := a.deliver(); err != nil {
		return err
	}
	return command.Exit(exitCode(ended))
}

// startDetached starts a program in a session of its own, gives it its input and returns where it reports to.
func startDetached(path string, args []string, spools spool.Files, id string, input []byte) (p *os.Process, report *os.File, err error) {
	stderr, err := spools.OpenStderr(id) // what the runtime says of a crash
	if err != nil {
		return nil, nil, err
	}
	defer stderr.Close()
	stdin, feed, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer stdin.Close()
	report, tell, err := os.Pipe()
	if err != nil {
		feed.Close()
		return nil, nil, err
	}
	defer tell.Close()
	if p, err = supervise.DetachWith(path, args, stdin, tell, stderr); err != nil {
		feed.Close()
		report.Close()
		return nil, nil, err
	}
	go func() { // it takes all of it before it reports
		defer feed.Close()
		feed.Write(input)
	}()
	return p, report, nil
}

// exitCode is the exit code of a process, as a shell has it.
func exitCode(ended *os.ProcessState) int {
	if code := ended.ExitCode(); code >= 0 {
		return code
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok {
		return 128 + int(status.Signal())
	}
	return engine.CodeFailed
}

// inputOf says how the stdin of a run is read before it is detached; nil if the run does not read it.
func inputOf(s *config.Settings, std stdio.Streams, known agent.Profile, name string) func(context.Context, io.Reader) ([]byte, error) {
	prompt := s.From("prompt") != "" && s.Prompt != "-" || s.From("prompt-file") != "" && !command.IsStdin(s.PromptFile)
	if s.NoStdin || prompt {
		return nil
	}
	silence, enough := 10*time.Second, false
	if a, ok := known.(agent.Agent); ok {
		info := a.Info()
		if info.NoInput {
			return nil
		}
		if enough = info.HasPrompt; info.Silence > 0 {
			silence = info.Silence
		}
	}
	return func(ctx context.Context, in io.Reader) ([]byte, error) {
		if stdio.IsTerminal(in) {
			return nil, nil
		}
		return readAhead(ctx, in, silence, func() bool {
			if enough {
				command.Say(std.Err, message.StdinSkipped(silence))
			} else {
				command.Say(std.Err, message.StdinSilent(name))
			}
			return enough
		})
	}
}

// readAhead reads all of a stream. silent is asked, if nothing has come for so long, whether to go on without it: a caller may leave its end open and never write.
func readAhead(ctx context.Context, in io.Reader, silence time.Duration, silent func() bool) ([]byte, error) {
	type chunk struct {
		data []byte
		err  error
	}
	chunks := make(chan chunk)
	go func() {
		for {
			buf := make([]byte, 64<<10)
			n, err := in.Read(buf)
			select {
			case chunks <- chunk{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	quiet := time.NewTimer(silence)
	defer quiet.Stop()
	var all bytes.Buffer
	for {
		select {
		case c := <-chunks:
			quiet.Stop()
			all.Write(c.data)
			switch {
			case all.Len() > command.MaxPrompt:
				return nil, command.Usage(message.Error(fmt.Sprintf("stdin is larger than %d MiB, which --detach cannot keep in memory. Let the command read a file instead", command.MaxPrompt>>20)), "")
			case c.err == io.EOF:
				return all.Bytes(), nil
			case c.err != nil:
				return nil, command.Usage(message.Error(message.PromptUnreadable(message.PromptOnStdin, c.err), c.err), "")
			}
		case <-quiet.C:
			if silent() {
				return nil, nil
			}
		case <-ctx.Done():
			return nil, command.InputInterrupted(ctx, message.PromptOnStdin)
		}
	}
}

// detachment is the run that a detached belay is for. It is nil in a belay that was not detached.
type detachment struct {
	id     string
	at     time.Time
	report io.WriteCloser
	once   sync.Once
	cancel context.CancelCauseFunc
}

// detachmentKey is the key of a detachment in a context.
type detachmentKey struct{}

// detachmentOf is the detached run that the context belongs to; nil if there is none.
func detachmentOf(ctx context.Context) *detachment {
	d, _ := ctx.Value(detachmentKey{}).(*detachment)
	return d
}

// runDetached is a belay that was detached: it runs the same command line, with its output spooled.
func runDetached(ctx context.Context, std stdio.Streams, args []string) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // the one that has started us may have gone
	if len(args) < 3 {
		return command.Usage(message.Error(message.NoSuchCommand(detachedArg)), "")
	}
	d := &detachment{id: args[0], report: stdio.FileOf(std.Out)}
	if args[1] != "" {
		var err error
		if d.at, err = time.Parse(time.RFC3339Nano, args[1]); err != nil {
			return command.Fail(err)
		}
	}
	input, err := io.ReadAll(std.In)
	if err != nil {
		return command.Fail(err)
	}
	state, err := command.OpenState()
	if err != nil {
		return err
	}
	w, err := state.Spools().Adopt(d.id)
	if err != nil {
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	streams := stdio.New(bytes.NewReader(input), w.Stdout, w.Stderr)
	ctx, d.cancel = context.WithCancelCause(context.WithValue(ctx, detachmentKey{}, d))
	defer d.cancel(nil)
	if end := command.OwnsProcess(ctx); end != nil {
		ctx = command.OwnProcess(ctx, func(code int) {
			w.Finish(code)
			end(code)
		})
	}
	_, err = executeCobra(ctx, streams, args[2:])
	code := command.CodeOf(streams, err)
	w.Finish(code)
	return command.Exit(code)
}

// observe notices that the run is on its way.
func (d *detachment) observe(e belaytype.Event) {
	switch e.(type) {
	case belaytype.AttemptStarted, belaytype.AtGate, belaytype.ScopeBusy, belaytype.Waiting:
		d.begun()
	}
}

// begun tells the belay that has started this one that the run is on its way. If that one is gone, its user knows nothing of the run, and it is stopped.
func (d *detachment) begun() {
	if d == nil {
		return
	}
	d.once.Do(func() {
		_, err := io.WriteString(d.report, underWay)
		d.report.Close()
		if err != nil {
			d.cancel(message.Error("belay run --detach was interrupted"))
		}
	})
}

// attend lets the runner of a detached run have its id, and tell that it is on its way.
func (d *detachment) attend(r *engine.Runner) {
	if d == nil {
		return
	}
	r.ID = d.id
	observe, postponed := r.Observe, r.Postponed
	r.Observe = func(e belaytype.Event) {
		d.observe(e)
		observe(e)
	}
	r.Postponed = func(p engine.Postponed) {
		d.begun()
		postponed(p)
	}
}
