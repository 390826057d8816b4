//go:build unix

package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/test/must"
)

// echo is a server in sh: it answers each request with its own pid, and dies of the method "die".
const echo = `while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case $line in *'"die"'*) echo dying >&2; exit 4;; esac
  [ -z "$id" ] || echo '{"jsonrpc":"2.0","id":'"$id"',"result":{"pid":'$$'}}'
done`

// A proxy is a library too: it leaves no goroutine behind, and its incidents are told.
func TestProxy_LeavesNothing(t *testing.T) {
	before := runtime.NumGoroutine()
	in, feed, err := os.Pipe()
	must.OK(t, err)
	out, sink, err := os.Pipe()
	must.OK(t, err)
	var mu sync.Mutex
	var entries []journal.Entry
	p := mcp.New(mcp.Options{Settings: relay.Settings{Name: "echo"}, ID: fmt.Sprint("test-", os.Getpid()), Path: "/bin/sh", Args: []string{"sh", "-c", echo}, Stdin: in, Stdout: sink, Stderr: io.Discard,
		Log: func(e journal.Entry) {
			mu.Lock()
			defer mu.Unlock()
			entries = append(entries, e)
		}})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		p.Run(context.Background())
		sink.Close()
	}()
	answers := bufio.NewScanner(out)
	ask := func(id int, method string) string {
		fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":%d,"method":%q}`+"\n", id, method)
		if !answers.Scan() {
			t.Fatal("no answer")
		}
		var m struct{ ID int }
		if json.Unmarshal(answers.Bytes(), &m); m.ID != id {
			t.Errorf("%s", answers.Text())
		}
		return answers.Text()
	}
	first := ask(1, "x")
	if got := ask(2, "die"); !strings.Contains(got, "exit status 4") || !strings.Contains(got, "dying") || !strings.Contains(got, "-32000") {
		t.Error(got)
	}
	if second := ask(3, "x"); second == strings.Replace(first, `"id":1`, `"id":3`, 1) {
		t.Error("it is the same process")
	}
	feed.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("it does not end")
	}
	in.Close()
	mu.Lock()
	if len(entries) != 2 || entries[0].Event != "request_error" || entries[0].Status != journal.Error || entries[1].Event != "crash" || entries[1].Status != journal.Retry {
		t.Errorf("%+v", entries)
	}
	for _, e := range entries {
		if e.Kind != journal.MCP || e.ExitCode != 4 || e.Profile != "mcp:echo" {
			t.Errorf("%+v", e)
		}
	}
	mu.Unlock()
	out.Close()
	for end := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, before there were %d\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}
