package detach

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/printable"
	"github.com/belay-run/belay/internal/spool"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/term"
)

// Run is what is to be detached.
type Run struct {
	Command string
	Name    string
	Input   func(ctx context.Context, in io.Reader) ([]byte, error) // nil if it reads nothing
	Quiet   bool
}

// Start starts a belay that goes on by itself with the same command line, and prints the id of its run. If that one is refused, its output and its exit code are ours.
//
// What the run reads goes through a pipe into its memory; its output is spooled.
func Start(ctx context.Context, std stdio.Streams, l *Later, r Run) error {
	self, err := command.Executable()
	if err != nil {
		return command.Fail(err)
	}
	var input []byte
	if r.Input != nil {
		if input, err = r.Input(ctx, std.In); err != nil {
			return err
		}
	}
	state, err := command.OpenState()
	if err != nil {
		return err
	}
	spools, id := state.Spools(), engine.NewID()
	if err = state.Prepare(); err == nil {
		err = spools.Create(spool.Header{ID: id, Command: r.Command, Name: r.Name, Started: time.Now()})
	}
	if err != nil {
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	at := ""
	if !l.schedule.At.IsZero() {
		at = l.schedule.At.Format(time.RFC3339Nano)
	}
	given, _ := ctx.Value(argsKey{}).([]string)
	p, report, err := startDetached(self, append([]string{self, Arg, id, at}, given...), spools, id, input)
	if err != nil {
		spools.Remove(id)
		return command.Fail(message.Error(message.CannotDetach(err), err))
	}
	defer report.Close()
	if line, _ := bufio.NewReader(report).ReadString('\n'); line == underWay {
		term.Line(std.Out, id)
		if !r.Quiet {
			command.Say(std.Err, fmt.Sprintf("%s in the background. Its output is kept on disk until it is shown: belay attach %s", l.doing(), printable.ShortID(id)))
		}
		p.Release()
		return nil
	}
	ended, err := p.Wait()
	if err != nil {
		return command.Fail(err)
	}
	a := NewDelivery(std, spools, id)
	if err := a.Rest(); err != nil {
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
