// Package mcpurl is belay mcp for a server over a network.
package mcpurl

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/mcp/remote"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// Run is belay mcp for a server over a network.
func Run(ctx context.Context, r *request.Request) (int, error) {
	var h host.Handover
	if err := json.Unmarshal([]byte(r.Text("settings")), &h); err != nil {
		return 0, err
	}
	at, err := url.Parse(h.URL)
	if err != nil {
		return 0, &request.UsageError{Err: message.Error(message.NotAServerURL())} // its own words would quote it
	}
	headers := headersOf(h.Address)
	secrets := &redact.Known{Env: os.Environ(), Args: []string{h.URL}}
	for _, header := range headers {
		secrets.Env = append(secrets.Env, "TOKEN="+os.Getenv(header.Variable))
	}
	o := h.Options
	o.Stdin, o.Stdout, o.Stderr = r.In, r.Out.Raw(), r.Err
	o.Remote, o.PathError = remote.New(remote.Options{Name: o.Name, URL: at, Legacy: h.Transport == "sse", Headers: headers, Secrets: secrets}, os.LookupEnv)
	recorder := host.Open(&o, h.Labels, secrets, func() { detachFold(r) })
	defer recorder.Close()
	if h.NoGate {
		o.Gate = nil
	}
	return runProxy(ctx, mcp.New(o)), nil
}

// headersOf are the headers that the flags name.
func headersOf(a host.Address) (list []remote.Header) {
	for _, h := range a.Headers {
		list = append(list, remote.Header{Name: h[0], Variable: h[1]})
	}
	if a.Bearer != "" {
		list = append(list, remote.Header{Name: "Authorization", Variable: a.Bearer, Prefix: "Bearer "})
	}
	return list
}

// runProxy runs a proxy until its client leaves or a signal comes: the first ends it, the second at once. A client that does not
// read any more shows where it is written to.
func runProxy(ctx context.Context, p *mcp.Proxy) (code int) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	caught := signals.Catch()
	signal.Notify(caught, syscall.SIGPIPE)
	defer caught.Stop()
	asked := request.CodeStopped
	go func() {
		for got := range caught {
			switch sig := got.(syscall.Signal); {
			case sig == syscall.SIGPIPE:
			case ctx.Err() != nil:
				p.Kill()
			default:
				asked = 128 + int(sig)
				cancel()
			}
		}
	}()
	p.Run(ctx)
	if ctx.Err() != nil {
		return asked
	}
	return 0
}

// detachFold has the log folded by another process, which is not waited for.
func detachFold(r *request.Request) {
	self, err := os.Executable()
	if err == nil && os.Getenv(state.FoldVar) != "off" {
		supervise.Detach(self, []string{self, "--for", r.Pair, "--belay", r.Belay, belayd.Fold})
	}
}
