package belay

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"
)

// silence is how long the input of an agent that has its prompt already may stay silent. Who starts us with an open pipe
// that nobody writes to would wait for ever.
func (talk *conversation) silence() time.Duration {
	if talk.traits.Silence > 0 {
		return talk.traits.Silence
	}
	return 10 * time.Second
}

// readInput reads the caller's stdin for an agent, once: all attempts get the same.
func (inv *Invocation) readInput() error {
	talk := inv.talk
	if talk == nil || talk.traits.NoInput || inv.isConversation() || inv.command.Stdin == nil {
		return nil
	}
	if f, ok := inv.command.Stdin.(*os.File); ok {
		info, err := f.Stat()
		if err != nil || info.Mode()&os.ModeCharDevice != 0 { // a terminal, the null device, or nothing
			return nil
		}
	}
	limit := talk.traits.MaxInput
	var data bytes.Buffer
	first := make([]byte, 32<<10)
	n, err, ok := inv.firstBytes(first)
	if !ok {
		return nil
	}
	data.Write(first[:n])
	if err == nil {
		_, err = io.Copy(&data, io.LimitReader(inv.command.Stdin, limit+1-int64(n)))
	}
	switch {
	case err != nil && err != io.EOF:
		return fmt.Errorf("stdin cannot be read: %w", err)
	case int64(data.Len()) > limit:
		return fmt.Errorf("stdin has more than the %d bytes that %s takes; put the text in a file and name that in the prompt", limit, inv.command.name())
	}
	if data.Len() > 0 {
		talk.first.Stdin = data.Bytes()
		talk.turn.Stdin = talk.first.Stdin
	}
	return nil
}

// firstBytes is false if nothing comes and nothing need come. A CLI that itself waits for its input to end, whatever else it
// was given, waits here too: who writes to it may only be slow.
func (inv *Invocation) firstBytes(buf []byte) (n int, err error, ok bool) {
	type read struct {
		n   int
		err error
	}
	got := make(chan read, 1)
	go func() {
		n, err := inv.command.Stdin.Read(buf)
		got <- read{n, err}
	}()
	timer := time.NewTimer(inv.talk.silence())
	defer timer.Stop()
	for {
		select {
		case r := <-got:
			return r.n, r.err, true
		case <-timer.C:
			given := inv.talk.traits.HasPrompt || inv.talk.first.Prompt != nil
			inv.observe(StdinSilent{For: inv.talk.silence(), Awaited: !given})
			if given {
				return 0, nil, false
			}
		case <-inv.ctx.Done():
			return 0, nil, false
		}
	}
}
