// Package ui is belay ui: a page in the browser, until Ctrl-C.
package ui

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/belay-run/belay/internal/belayd/request"
	"github.com/belay-run/belay/internal/command/question"
	"github.com/belay-run/belay/internal/command/signals"
	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/fleet/logs"
	"github.com/belay-run/belay/internal/fleet/status"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/browser"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/record/database"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/term"
)

// Run is belay ui: a page in the browser, until Ctrl-C.
func Run(ctx context.Context, r *request.Request) (int, error) {
	address, err := listenAddress(r)
	if err != nil {
		return 0, err
	}
	idle, err := config.ParseDuration(r.Text("idle"))
	if err != nil {
		return 0, &request.UsageError{Err: message.Error(message.InFlag("idle", err), err)}
	}
	token, err := metricsToken(r.Text("metrics-token-file"))
	if err != nil {
		return 0, err
	}
	opened, err := state.Open("")
	if err != nil {
		return 0, err
	}
	source, done, err := Source(ctx, r, opened)
	if err != nil {
		return 0, err
	}
	defer done()
	l, err := net.Listen("tcp", address.String())
	if err != nil {
		return 0, message.Error(fmt.Sprintf("belay ui cannot listen: %v", err), err)
	}
	server := page.New(page.Options{Source: source, ReadOnly: r.On("read-only") || source.Fleet != nil, Idle: idle, Metrics: pageMetrics(source, token)})
	at := "http://" + l.Addr().String()
	if !address.Addr().IsLoopback() {
		server.Hosts = []string{address.Addr().String()}
		r.Say(fmt.Sprintf("%s can be reached from other machines, and nothing that is sent there is encrypted. Safer: ssh -L, see https://github.com/belay-run/belay/blob/main/docs/ui.md", at))
	}
	removed, err := showPage(r, opened, server, at, r.On("no-open"))
	if err != nil {
		l.Close()
		return 0, err
	}
	defer removed()
	return servePage(ctx, r, server, l)
}

// Source is where the page takes what it shows from.
func Source(ctx context.Context, r *request.Request, opened *state.State) (source *view.Source, done func(), err error) {
	if err := question.CheckFleet(r); err != nil {
		return nil, nil, err
	}
	if r.On("fleet") {
		if r.Text("metrics-token-file") != "" {
			return nil, nil, &request.UsageError{Err: message.Error(message.NotTogether("--fleet", "--metrics-token-file"))}
		}
		s, err := question.OpenFleet(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		feed, err := logs.NewFeed(ctx, s)
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		d, err := record.OpenFleet(opened.Dir, feed)
		if err != nil {
			s.Close()
			return nil, nil, database.OpenError(opened.Dir, err)
		}
		return &view.Source{State: opened, DB: d, Fleet: status.NewWatch(ctx, s)}, func() { d.Close(); s.Close() }, nil
	}
	d, err := record.Open(opened.Dir)
	if err != nil {
		return nil, nil, database.OpenError(opened.Dir, err)
	}
	question.SayOf(r, d)
	return &view.Source{State: opened, DB: d, Belay: r.Belay}, func() { d.Close() }, nil
}

// metricsToken returns what reads the token with which metrics can be asked for; nil if there is no file for it. The file is read at each
// request, so that the token can be changed.
func metricsToken(path string) (func() (string, error), error) {
	if path == "" {
		return nil, nil
	}
	read := func() (string, error) {
		data, err := safefile.ReadSecret(path, maxToken)
		return strings.TrimSpace(string(data)), err
	}
	token, err := read()
	if err == nil && token == "" {
		err = message.Error("the file is empty")
	}
	if err != nil {
		return nil, &request.UsageError{Err: message.Error(message.InFlag("metrics-token-file", err), err)}
	}
	return read, nil
}

// maxToken bounds the file of a token.
const maxToken = 4 << 10

// pageMetrics answers with metrics of a record that is up to date.
func pageMetrics(source *view.Source, token func() (string, error)) http.Handler {
	if token == nil {
		return nil
	}
	return metrics.Handler(func(ctx context.Context) (metrics.Snapshot, error) {
		if err := source.Fold(ctx); err != nil {
			return metrics.Snapshot{}, err
		}
		return metrics.Collect(ctx, source.DB, source.State)
	}, token)
}

// listenAddress is where to listen.
func listenAddress(r *request.Request) (at netip.AddrPort, err error) {
	port, err := strconv.ParseUint(r.Text("port"), 10, 16)
	if err != nil {
		return at, &request.UsageError{Err: message.Error(fmt.Sprintf("--port: %q is not a port, from 0 (any that is free) to 65535", r.Text("port")))}
	}
	host, err := netip.ParseAddr(r.Text("address"))
	if err != nil || host.IsUnspecified() {
		return at, &request.UsageError{Err: message.Error(fmt.Sprintf("--address: %q is not an IP address of this machine, such as 127.0.0.1", r.Text("address")))}
	}
	return netip.AddrPortFrom(host, uint16(port)), nil
}

// showPage opens the page in a browser, or says where it is. What it returns removes what was needed for that.
func showPage(r *request.Request, s *state.State, server *page.Server, at string, byHand bool) (removed func(), err error) {
	nothing := func() {}
	if !byHand {
		removed, err = browser.Open(filepath.Join(s.Dir, "ui"), at, server.Ticket)
		if err == nil {
			return removed, term.Line(r.Out, fmt.Sprintf("belay ui is at %s; Ctrl-C stops it", at))
		}
		r.Say(fmt.Sprintf("no browser could be opened: %v", err))
	}
	return nothing, term.Line(r.Out, fmt.Sprintf("open %s within a minute, in one browser; Ctrl-C stops it", at+"/#token="+server.Ticket()))
}

// servePage serves until a signal or the end of the context.
func servePage(ctx context.Context, r *request.Request, server *page.Server, l net.Listener) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	code := 0
	caught := signals.Catch()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for got := range caught {
			if sig, ok := got.(syscall.Signal); ok {
				code = 128 + int(sig)
			}
			cancel()
		}
	}()
	err := server.Serve(ctx, l)
	caught.Stop()
	<-done
	switch {
	case err != nil:
		return 0, err
	case code == 0 && ctx.Err() == nil:
		r.Say(fmt.Sprintf("no page was open for %s, so belay ui has ended (--idle)", server.Idle))
	}
	return code, nil
}
