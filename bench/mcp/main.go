// Command mcp measures what standing between an MCP client and its server costs: the same calls directly, through a bare
// copy of lines, and through `belay mcp`, in one interleaved run with the go-sdk on both sides; then, for a server over HTTP, by the
// go-sdk's own client and through `belay mcp --url`. Compare the ratios: the times themselves depend on the load of the machine.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type input struct {
	Text string `json:"text"`
}

func main() {
	log.SetFlags(0)
	bin := flag.String("bin", "bin", "where belay is")
	calls := flag.Int("calls", 4000, "calls of 16 bytes to each target, one at a time")
	many := flag.Int("many", 8000, "calls of 16 bytes to each target, 16 at a time")
	large := flag.Int("large", 80, "calls of 100 kB to each target")
	version := flag.String("protocol", "2025-11-25", "protocol version")
	flag.Parse()
	switch flag.Arg(0) {
	case "serve":
		serve()
		return
	case "copy":
		copyLines(flag.Args()[1:])
		return
	case "web":
		serveWeb()
		return
	}
	self, err := os.Executable()
	if err != nil {
		log.Fatal(err)
	}
	belay, err := filepath.Abs(filepath.Join(*bin, "belay"))
	if err != nil {
		log.Fatal(err)
	}
	state, err := os.MkdirTemp("", "bench-mcp-")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(state)
	os.Setenv("BELAY_STATE_DIR", state)
	targets := []*target{
		{name: "direct", args: []string{self, "serve"}},
		{name: "line copy", args: []string{self, "copy", self, "serve"}},
		{name: "belay mcp", args: []string{belay, "mcp", "--", self, "serve"}},
	}
	for _, t := range targets {
		t.open(*version)
		defer t.session.Close()
	}
	report("16 bytes, one at a time", targets, rounds(targets, *calls, 50, 1, 16))
	report("16 bytes, 16 at a time", targets, rounds(targets, *many, 400, 16, 16))
	report("100 kB, one at a time", targets, rounds(targets, *large, 4, 1, 100_000))

	url, stop := startWeb(self)
	defer stop()
	targets = []*target{
		{name: "direct", url: url},
		{name: "belay mcp", args: []string{belay, "mcp", "--url", url}},
	}
	for _, t := range targets {
		t.open(*version)
		defer t.session.Close()
	}
	report("over HTTP, 16 bytes, one at a time", targets, rounds(targets, *calls/2, 50, 1, 16))
	report("over HTTP, 16 bytes, 16 at a time", targets, rounds(targets, *many/4, 400, 16, 16))
	report("over HTTP, 100 kB, one at a time", targets, rounds(targets, *large, 4, 1, 100_000))
}

// target is a way to the server.
type target struct {
	name    string
	args    []string
	url     string // in place of a command
	session *mcp.ClientSession
}

func (t *target) open(version string) {
	client := mcp.NewClient(&mcp.Implementation{Name: "bench", Version: "1"}, nil)
	var transport mcp.Transport = &mcp.StreamableClientTransport{Endpoint: t.url}
	if t.url == "" {
		cmd := exec.Command(t.args[0], t.args[1:]...)
		cmd.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: cmd}
	}
	var err error
	t.session, err = client.Connect(context.Background(), transport, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		log.Fatalf("%s: %v", t.name, err)
	}
}

// figures are the figures of one target.
type figures struct {
	each []time.Duration
	all  time.Duration
}

// rounds makes the calls, some to each target in turn, so that whatever else the machine does meets all of them.
func rounds(targets []*target, calls, some, parallel, size int) []figures {
	out := make([]figures, len(targets))
	text := strings.Repeat("x", size)
	for _, t := range targets {
		batch(t, some, parallel, text) // warm
	}
	for done, round := 0, 0; done < calls; done, round = done+some, round+1 {
		for i := range targets {
			i = (i + round) % len(targets)
			begin := time.Now()
			each := batch(targets[i], some, parallel, text)
			out[i].all += time.Since(begin)
			out[i].each = append(out[i].each, each...)
		}
	}
	return out
}

func batch(t *target, n, parallel int, text string) []time.Duration {
	var mu sync.Mutex
	var each []time.Duration
	var wg sync.WaitGroup
	for range parallel {
		wg.Go(func() {
			own := make([]time.Duration, 0, n/parallel)
			for range n / parallel {
				begin := time.Now()
				res, err := t.session.CallTool(context.Background(), &mcp.CallToolParams{Name: "echo", Arguments: input{text}})
				if err != nil || res.IsError {
					log.Fatalf("%s: %v", t.name, err)
				}
				own = append(own, time.Since(begin))
			}
			mu.Lock()
			each = append(each, own...)
			mu.Unlock()
		})
	}
	wg.Wait()
	return each
}

func report(what string, targets []*target, f []figures) {
	fmt.Println(what)
	for i := range f {
		slices.Sort(f[i].each)
	}
	at := func(i, percent int) time.Duration { return f[i].each[len(f[i].each)*percent/100] }
	rate := func(i int) float64 { return float64(len(f[i].each)) / f[i].all.Seconds() }
	for i, t := range targets {
		fmt.Printf("  %-10s p10 %8v  p50 %8v (%.2fx, %+v)  p99 %8v  %7.0f calls/s (%.2fx)\n", t.name, at(i, 10).Round(time.Microsecond),
			at(i, 50).Round(time.Microsecond), float64(at(i, 50))/float64(at(0, 50)), (at(i, 50) - at(0, 50)).Round(time.Microsecond),
			at(i, 99).Round(10*time.Microsecond), rate(i), rate(i)/rate(0))
	}
}

func serve() { echoServer().Run(context.Background(), &mcp.StdioTransport{}) }

// serveWeb is the same server over HTTP. It prints where it is, and ends with its stdin.
func serveWeb() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("http://%s/mcp\n", listener.Addr())
	s := echoServer()
	go http.Serve(listener, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	io.Copy(io.Discard, os.Stdin)
}

func startWeb(self string) (url string, stop func()) {
	cmd := exec.Command(self, "web")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, &url); err != nil {
		log.Fatal(err)
	}
	return url, func() { in.Close(); cmd.Wait() }
}

func echoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in input) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: in.Text}}}, nil, nil
	})
	return s
}

// copyLines is the least that a proxy can do.
func copyLines(args []string) {
	cmd := exec.Command(args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		log.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		log.Fatal(err)
	}
	go func() {
		lines(in, os.Stdin)
		in.Close()
	}()
	lines(os.Stdout, out)
	cmd.Wait()
}

func lines(to io.Writer, from io.Reader) {
	r := bufio.NewReaderSize(from, 64<<10)
	for {
		line, err := r.ReadBytes('\n')
		if len(line) > 0 {
			if _, werr := to.Write(line); werr != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
