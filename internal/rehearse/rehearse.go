package rehearse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/belay-run/belay/internal/flock"
	"github.com/belay-run/belay/internal/message"
)

// Options change what [Start] does by default. The zero value is what Start uses.
type Options struct {
	// Dir is where the homes of the CLIs are made; it must exist and is kept. Empty means a temporary directory
	// that Close removes.
	Dir string
	// Subscription lets claude log in as a subscriber of a plan, not with an API key: only then does it recognize
	// usage limits, and tells of windows. It is implied by a script with a step usage-limit or a window.
	Subscription bool
}

// API is a running rehearsal.
type API struct {
	options Options
	dir     string
	own     *Dir // dir, if it was made here
	addr    string
	server  *http.Server
	cursor  *cursor
	log     requestLog
	ctx     context.Context // of all requests; ends when the rehearsal does
	end     context.CancelFunc

	mu       sync.Mutex
	listener net.Listener // nil while connections are refused
	closed   bool
	answered int                // main requests so far
	sessions map[string]*cursor // of a script that each session begins anew
	handlers sync.WaitGroup
	windows  []Window // of the account
	github   GitHub
}

// Start begins a rehearsal of a script; an error of the script is a [*SyntaxError].
func Start(script string) (*API, error) { return Options{}.Start(script) }

// Start begins a rehearsal with these options.
func (o Options) Start(script string) (*API, error) {
	parsed, err := Parse(script)
	if err != nil {
		return nil, err
	}
	a := &API{options: o, dir: o.Dir, cursor: &cursor{script: parsed}, sessions: map[string]*cursor{}}
	a.ctx, a.end = context.WithCancel(context.Background())
	for _, step := range parsed.Steps {
		if step.UsageLimit || step.Windows != nil {
			a.options.Subscription = true
		}
	}
	if a.dir == "" {
		if a.own, err = MakeDir(); err != nil {
			return nil, message.Error(fmt.Sprintf("cannot create a directory for the rehearsal: %v", err), err)
		}
		a.dir = a.own.Path
	}
	if err := a.open(); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// open makes the homes and begins to listen.
func (a *API) open() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return message.Error(fmt.Sprintf("cannot listen on loopback: %v", err), err)
	}
	a.addr = l.Addr().String()
	a.server = &http.Server{
		Handler:     http.HandlerFunc(a.serve),
		ErrorLog:    log.New(io.Discard, "", 0), // that clients leave in the middle is expected
		BaseContext: func(net.Listener) context.Context { return a.ctx },
	}
	a.listen(l)
	a.refuseIfDue()
	if err := os.MkdirAll(a.tmp(), 0o700); err != nil {
		return err
	}
	for _, v := range vendors {
		if err := v.prepare(a); err != nil {
			return err
		}
	}
	return nil
}

func (a *API) listen(l net.Listener) {
	a.listener = l
	go a.server.Serve(l)
}

// refuseIfDue stops listening if the script says so, for as long as it says.
func (a *API) refuseIfDue() {
	step, due := a.cursor.refusing()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !due || a.listener == nil || a.closed {
		return
	}
	a.listener.Close()
	a.listener = nil
	a.server.SetKeepAlivesEnabled(false) // closes those that wait for another request
	a.server.SetKeepAlivesEnabled(true)
	if step.For > 0 {
		time.AfterFunc(step.For, a.listenAgain)
	}
}

func (a *API) listenAgain() {
	a.cursor.skip()
	for {
		a.mu.Lock()
		l, err := net.Listen("tcp", a.addr)
		if err == nil && a.closed {
			l.Close()
		} else if err == nil {
			a.listen(l)
		}
		done := err == nil || a.closed
		a.mu.Unlock()
		if done {
			a.refuseIfDue()
			return
		}
		// Another process has the port for the moment.
		time.Sleep(50 * time.Millisecond)
	}
}

// URL is where the stand-ins listen, as http://127.0.0.1:4711.
func (a *API) URL() string { return "http://" + a.addr }

// Dir is where the homes of the CLIs are.
func (a *API) Dir() string { return a.dir }

// Close ends the rehearsal: requests under way are cut, and what Start has made is removed. Requests stays.
func (a *API) Close() error {
	a.mu.Lock()
	if a.closed {
		a.mu.Unlock()
		return nil
	}
	a.closed = true
	a.end()
	a.mu.Unlock()
	var errs []error
	if a.server != nil {
		errs = append(errs, a.server.Close())
		a.handlers.Wait()
	}
	if a.own != nil {
		errs = append(errs, a.own.Remove())
	}
	return errors.Join(errs...)
}

// Dir is a temporary directory for a rehearsal. It holds a lock on a file in it, so that what a killed rehearsal leaves can
// be told from a directory in use: package state removes the former.
type Dir struct {
	Path string
	lock *os.File
}

// MakeDir makes a directory, which the caller removes.
func MakeDir() (*Dir, error) {
	path, err := os.MkdirTemp("", "belay-rehearsal-")
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	if d.lock, err = flock.Open(filepath.Join(path, ".lock")); err != nil {
		os.RemoveAll(path)
		return nil, err
	}
	flock.Try(d.lock, flock.Exclusive) // where there are no locks, what is left stays
	return d, nil
}

// Remove removes the directory with all that is in it.
func (d *Dir) Remove() error {
	d.lock.Close()
	return os.RemoveAll(d.Path)
}
