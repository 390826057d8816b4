//go:build !norecord

package companion

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/belay-run/belay/internal/config"
	"github.com/belay-run/belay/internal/message"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/safefile"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/term"
)

// uiCommand is belay ui: a page in the browser, until Ctrl-C.
func uiCommand(ctx context.Context, from caller, a *arguments) (int, error) {
	address, err := uiAddress(a)
	if err != nil {
		return 0, err
	}
	idle, err := config.ParseDuration(a.text("idle"))
	if err != nil {
		return 0, &usageError{err: message.Error(message.InFlag("idle", err), err)}
	}
	token, err := metricsToken(a.text("metrics-token-file"))
	if err != nil {
		return 0, err
	}
	opened, err := state.Open("")
	if err != nil {
		return 0, err
	}
	source, done, err := from.pageSource(ctx, a, opened)
	if err != nil {
		return 0, err
	}
	defer done()
	l, err := net.Listen("tcp", address.String())
	if err != nil {
		return 0, message.Error(fmt.Sprintf("belay ui cannot listen: %v", err), err)
	}
	server := page.New(page.Options{Source: source, ReadOnly: a.on("read-only") || source.Fleet != nil, Idle: idle, Metrics: pageMetrics(source, token)})
	at := "http://" + l.Addr().String()
	if !address.Addr().IsLoopback() {
		server.Hosts = []string{address.Addr().String()}
		from.say(fmt.Sprintf("%s can be reached from other machines, and nothing that is sent there is encrypted. Safer: ssh -L (docs/ui.md)", at))
	}
	removed, err := from.showPage(opened, server, at, a.on("no-open"))
	if err != nil {
		l.Close()
		return 0, err
	}
	defer removed()
	return from.servePage(ctx, server, l)
}

// pageSource is where the page takes what it shows from.
func (c caller) pageSource(ctx context.Context, a *arguments, opened *state.State) (source *view.Source, done func(), err error) {
	if err := a.checkFleet(); err != nil {
		return nil, nil, err
	}
	if a.on("fleet") {
		if a.text("metrics-token-file") != "" {
			return nil, nil, &usageError{err: message.Error(message.NotTogether("--fleet", "--metrics-token-file"))}
		}
		s, err := openFleet(ctx, a)
		if err != nil {
			return nil, nil, err
		}
		feed, err := newFeed(ctx, s)
		if err != nil {
			s.Close()
			return nil, nil, err
		}
		d, err := record.OpenFleet(opened.Dir, feed)
		if err != nil {
			s.Close()
			return nil, nil, openTrouble(opened.Dir, err)
		}
		return &view.Source{State: opened, DB: d, Fleet: newFleetWatch(ctx, s)}, func() { d.Close(); s.Close() }, nil
	}
	d, err := record.Open(opened.Dir)
	if err != nil {
		return nil, nil, openTrouble(opened.Dir, err)
	}
	c.sayOf(d)
	return &view.Source{State: opened, DB: d, Belay: c.path}, func() { d.Close() }, nil
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
		return nil, &usageError{err: message.Error(message.InFlag("metrics-token-file", err), err)}
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

// uiAddress is where to listen.
func uiAddress(a *arguments) (at netip.AddrPort, err error) {
	port, err := strconv.ParseUint(a.text("port"), 10, 16)
	if err != nil {
		return at, &usageError{err: message.Error(fmt.Sprintf("--port: %q is not a port, from 0 (any that is free) to 65535", a.text("port")))}
	}
	host, err := netip.ParseAddr(a.text("address"))
	if err != nil || host.IsUnspecified() {
		return at, &usageError{err: message.Error(fmt.Sprintf("--address: %q is not an IP address of this machine, such as 127.0.0.1", a.text("address")))}
	}
	return netip.AddrPortFrom(host, uint16(port)), nil
}

// showPage opens the page in a browser, or says where it is. What it returns removes what was needed for that.
func (c caller) showPage(s *state.State, server *page.Server, at string, byHand bool) (removed func(), err error) {
	nothing := func() {}
	if !byHand {
		removed, err = openPage(s, server, at)
		if err == nil {
			return removed, term.Line(c.Out, fmt.Sprintf("belay ui is at %s; Ctrl-C stops it", at))
		}
		c.say(fmt.Sprintf("no browser could be opened: %v", err))
	}
	return nothing, term.Line(c.Out, fmt.Sprintf("open %s within a minute, in one browser; Ctrl-C stops it", at+"/#token="+server.Ticket()))
}

// servePage serves until a signal or the end of the context.
func (c caller) servePage(ctx context.Context, server *page.Server, l net.Listener) (int, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	code := 0
	caught := catchSignals()
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
	caught.stop()
	<-done
	switch {
	case err != nil:
		return 0, err
	case code == 0 && ctx.Err() == nil:
		c.say(fmt.Sprintf("no page was open for %s, so belay ui has ended (--idle)", server.Idle))
	}
	return code, nil
}

// openPage opens a browser with a file that posts a ticket: an argument could be read by other users, a file of mode 0600 cannot.
func openPage(s *state.State, server *page.Server, at string) (removed func(), err error) {
	opener, args, err := browser()
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(s.Dir, "ui")
	if err := safefile.MakeOwnDir(dir); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "open-"+strconv.Itoa(os.Getpid())+".html")
	os.Remove(path)
	if err := safefile.WriteOwn(path, entryFile(at, server.Ticket())); err != nil {
		return nil, err
	}
	remove := func() { os.Remove(path) }
	if err := supervise.Detach(opener, append(append([]string{opener}, args...), path)); err != nil {
		remove()
		return nil, err
	}
	timer := time.AfterFunc(time.Minute, remove)
	return func() { timer.Stop(); remove() }, nil
}

// entryFile is a page that posts a ticket at once. Address and ticket have nothing in them that HTML would read.
func entryFile(at, ticket string) []byte {
	action, _ := json.Marshal(at + "/enter") // a text always has a form
	return []byte(`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>belay ui</title>
<form method="post" action=` + string(action) + `><input type="hidden" name="token" value="` + ticket + `"><button>Open belay ui</button></form>
<script>document.forms[0].submit()</script></html>
`)
}

// browser is the command that opens a file in the user's browser.
func browser() (path string, args []string, err error) {
	name := "xdg-open"
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler"}
	default:
		if os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" && os.Getenv("BROWSER") == "" {
			return "", nil, errors.New("there is no desktop here")
		}
	}
	if own := os.Getenv("BROWSER"); own != "" && !strings.ContainsAny(own, " :%") {
		name, args = own, nil
	}
	path, err = supervise.Look(name, "")
	return path, args, err
}
