package run

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/belay-run/belay/belaytype"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/engine"
	"github.com/belay-run/belay/internal/fleetpipe"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/stdio"
	"github.com/belay-run/belay/retry"
)

// newCommand gives the command its streams.
func newCommand(ctx context.Context, std stdio.Streams, s *config.Settings, policy retry.Policy, args []string) (*belaytype.Command, error) {
	c := &belaytype.Command{Args: args, Dir: s.Cwd, Stdin: std.In, Stdout: std.Out.Raw(), Stderr: std.Err, Terminal: command.OwnsProcess(ctx) != nil}
	if s.NoStdin {
		c.Stdin = nil
	}
	if s.OutputFormat != "" {
		c.Stdout = nil
	}
	prompt, err := readPrompt(ctx, std.In, s, policy)
	if err != nil {
		return nil, err
	}
	if prompt != nil {
		c.Prompt, c.Stdin = prompt, nil
	}
	return c, nil
}

// takeConcealed are the texts of a task that a worker of a fleet has put into the arguments of the command. The command itself is not told where they are.
func takeConcealed() (texts []string) {
	path := os.Getenv(fleetpipe.ConcealVar)
	if path == "" {
		return nil
	}
	os.Unsetenv(fleetpipe.ConcealVar)
	if data, err := safefile.ReadOwn(path, 2*command.MaxPrompt); err == nil {
		json.Unmarshal(data, &texts) // who else has set it conceals nothing
	}
	return texts
}

// readPrompt returns the prompt that was given in one of the three ways; nil if there is none.
func readPrompt(ctx context.Context, stdin io.Reader, s *config.Settings, policy retry.Policy) (*string, error) {
	open := func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }
	what := message.PromptOnStdin
	switch {
	case s.From("prompt") != "" && s.From("prompt-file") != "":
		return nil, command.Usage(message.Error(message.NotTogether("--prompt", "--prompt-file")), "")
	case s.From("prompt") != "" && s.Prompt != "-":
		return &s.Prompt, nil
	case s.From("prompt") != "":
	case s.From("prompt-file") != "":
		what = message.PromptFile
		if !command.IsStdin(s.PromptFile) {
			open = func() (io.ReadCloser, error) { return os.Open(s.PromptFile) }
		}
	default:
		return nil, nil
	}
	data, err := readWithin(ctx, open, command.MaxPrompt+1, policy, what)
	if err != nil {
		return nil, err
	}
	if len(data) > command.MaxPrompt {
		return nil, command.Usage(message.Error(fmt.Sprintf("the prompt is larger than %d MiB", command.MaxPrompt>>20)), "")
	}
	prompt := string(data)
	return &prompt, nil
}

// readWithin opens a stream and reads all of it, up to so many bytes. A named pipe may never have a writer, and a stream may
// never end, so both are waited for no longer than an attempt, or everything, may take.
func readWithin(ctx context.Context, open func() (io.ReadCloser, error), size int64, policy retry.Policy, what string) ([]byte, error) {
	limit, name := policy.Timeout, "timeout"
	if total := policy.TotalTimeout; total > 0 && (limit <= 0 || total < limit) {
		limit, name = total, "total timeout"
	}
	var late <-chan time.Time
	if limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		late = timer.C
	}
	var data []byte
	read := make(chan error, 1)
	go func() {
		in, err := open()
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(in, size))
			in.Close()
		}
		read <- err
	}()
	select {
	case err := <-read:
		if err != nil {
			return nil, command.Usage(message.Error(message.PromptUnreadable(what, err), err), "")
		}
		return data, nil
	case <-ctx.Done():
		return nil, command.InputInterrupted(ctx, what)
	case <-late:
		return nil, command.WithCode(fmt.Errorf("the %s did not end within the %s (%s), so nothing was started", what, name, message.Seconds(limit)), engine.CodeTimeout)
	}
}
