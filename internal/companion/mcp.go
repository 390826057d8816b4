package companion

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/signal"
	"syscall"

	"github.com/belay-run/belay/internal/belayd"
	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/host"
	"github.com/belay-run/belay/internal/mcp/remote"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/redact"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
)

// mcpCommand is belay mcp for a server over a network.
func mcpCommand(ctx context.Context, from caller, a *arguments) (int, error) {
	var h host.Handover
	if err := json.Unmarshal([]byte(a.text("settings")), &h); err != nil {
		return 0, err
	}
	at, err := url.Parse(h.URL)
	if err != nil {
		return 0, &usageError{err: message.Error(message.NotAServerURL())} // its own words would quote it
	}
	headers := headersOf(h.Address)
	secrets := &redact.Known{Env: os.Environ(), Args: []string{h.URL}}
	for _, header := range headers {
		secrets.Env = append(secrets.Env, "TOKEN="+os.Getenv(header.Variable))
	}
	o := h.Options
	o.Stdin, o.Stdout, o.Stderr = from.In, from.Out.Raw(), from.Err
	o.Remote, o.PathError = remote.New(remote.Options{Name: o.Name, URL: at, Legacy: h.Transport == "sse", Headers: headers, Secrets: secrets}, os.LookupEnv)
	recorder := host.Open(&o, h.Labels, secrets, from.detachFold)
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
	caught := catchSignals()
	signal.Notify(caught, syscall.SIGPIPE)
	defer caught.stop()
	asked := codeStopped
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
func (c caller) detachFold() {
	self, err := os.Executable()
	if err == nil && os.Getenv(state.FoldVar) != "off" {
		supervise.Detach(self, []string{self, "--for", c.pair, "--belay", c.path, belayd.Fold})
	}
}
