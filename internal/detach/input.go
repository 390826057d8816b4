package detach

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/belay-run/belay/internal/agent"
	"github.com/belay-run/belay/internal/command"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/stdio"
)

// Input says how the stdin of a run is read before it is detached; nil if the run does not read it.
func Input(s *config.Settings, std stdio.Streams, known agent.Profile, name string) func(context.Context, io.Reader) ([]byte, error) {
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
		return ReadAhead(ctx, in, silence, func() bool {
			if enough {
				command.Say(std.Err, message.StdinSkipped(silence))
			} else {
				command.Say(std.Err, message.StdinSilent(name))
			}
			return enough
		})
	}
}

// ReadAhead reads all of a stream. silent is asked, if nothing has come for so long, whether to go on without it: a caller may leave its end open and never write.
func ReadAhead(ctx context.Context, in io.Reader, silence time.Duration, silent func() bool) ([]byte, error) {
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
