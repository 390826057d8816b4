package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
)

// A client that leaves without reading its answers, or is told to, does not keep the proxy from ending.
func TestProxy_ClientDoesNotRead(t *testing.T) {
	for name, leave := range map[string]func(in io.Closer, cancel func()){
		"Leaves":     func(in io.Closer, _ func()) { in.Close() },
		"Terminated": func(_ io.Closer, cancel func()) { cancel() },
		"Both":       func(in io.Closer, cancel func()) { in.Close(); cancel() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, feed := io.Pipe()
				out, sink := io.Pipe()
				p := mcp.New(mcp.Options{Settings: relay.Settings{Name: "srv"}, PathError: errors.New("not found"), Stdin: in, Stdout: sink})
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan struct{})
				go func() { p.Run(ctx); close(ended) }()
				fmt.Fprintln(feed, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
				synctest.Wait()
				leave(feed, cancel)
				select {
				case <-ended:
				case <-time.After(time.Minute):
					t.Error("it does not end")
				}
				cancel()
				feed.Close()
				out.Close() // the blocked writer
				<-ended
			})
		})
	}
}

// A client that reads slowly after it has left gets all answers, however long it takes.
func TestProxy_ClientReadsSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, feed := io.Pipe()
		out, sink := io.Pipe()
		p := mcp.New(mcp.Options{Settings: relay.Settings{Name: "srv"}, PathError: errors.New("not found"), Stdin: in, Stdout: sink})
		go func() { p.Run(t.Context()); sink.Close() }()
		const calls = 20
		for id := range calls { // of a size that is not written together
			fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":"%d-%s","method":"tools/list"}`+"\n", id, strings.Repeat("x", 70<<10))
		}
		feed.Close()
		answers := bufio.NewReader(out)
		got := map[string]bool{}
		for range calls {
			time.Sleep(8 * time.Second)
			line, err := answers.ReadString('\n')
			if err != nil {
				t.Errorf("%d of %d answers, %v", len(got), calls, err)
				break
			}
			id, _, _ := strings.Cut(line, "-x")
			got[id] = true
		}
		if len(got) != calls {
			t.Errorf("%d of %d answers", len(got), calls)
		}
		out.Close()
	})
}
