package page_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

// pipes is a listener in memory, so that the time of its connections is the test's.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}
func (p pipes) Close() error   { close(p.closed); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

func (p pipes) dial() net.Conn {
	near, far := net.Pipe()
	p.conns <- far
	return near
}

// A body that does not come is not waited for, whether the request would be let in or not. Anyone on the machine could hold connections open with such
// ones until the owner of the page had none left. A stream of events stays open.
func TestPage_SlowBody(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	synctest.Test(t, func(t *testing.T) {
		opened, err := state.Open(dir)
		must.OK(t, err)
		d, err := record.Open(opened.Dir)
		must.OK(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		defer func() {
			cancel()
			<-done
			d.Close()
		}()
		server, l := page.New(page.Options{Source: &view.Source{State: opened, DB: d}}), pipes{make(chan net.Conn), make(chan struct{})}
		go func() { done <- server.Serve(ctx, l) }()
		for _, c := range []struct{ request, want string }{
			{"POST /enter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nt", "HTTP/1.1 408"},
			{"POST /enter HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nt\r\n", "HTTP/1.1 408"},
			{"POST /api/cancel HTTP/1.1\r\nHost: elsewhere\r\nContent-Length: 1000\r\n\r\nt", "HTTP/1.1 408"},
			{"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nt", "HTTP/1.1 408"},
			{"POST /enter HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + strings.Repeat("t", 64<<10+1), "HTTP/1.1 400"},
		} {
			conn, began := l.dial(), time.Now()
			conn.SetDeadline(began.Add(time.Hour))
			fmt.Fprint(conn, c.request)
			answer, err := io.ReadAll(conn)
			if took := time.Since(began); err != nil || took > 15*time.Second || !strings.HasPrefix(string(answer), c.want) {
				t.Errorf("%.30q: after %s: %v\n%.60s", c.request, took, err, answer)
			}
			conn.Close()
		}

		conn := l.dial()
		defer conn.Close()
		in := bufio.NewReader(conn)
		body := `{"token":"` + server.Ticket() + `"}`
		fmt.Fprintf(conn, "POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		res, err := http.ReadResponse(in, nil)
		if err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		session, _ := io.ReadAll(res.Body)
		time.Sleep(30 * time.Second) // longer than a body may take: the connection is good for another request
		fmt.Fprintf(conn, "GET /api/changes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n", strings.Split(string(session), `"`)[3])
		if res, err = http.ReadResponse(in, nil); err != nil || res.StatusCode != 200 {
			t.Fatal(res, err)
		}
		events := bufio.NewScanner(res.Body)
		for began := time.Now(); time.Since(began) < time.Minute; {
			if !events.Scan() {
				t.Fatalf("the stream ended after %s: %v", time.Since(began), events.Err())
			}
		}
	})
}

// The types of the page's files do not depend on what the system has registered, as on Windows any program may.
func TestPage_Types(t *testing.T) {
	before := mime.TypeByExtension(".js")
	must.OK(t, mime.AddExtensionType(".js", "text/plain"))
	defer mime.AddExtensionType(".js", before)
	server := page.New(page.Options{Source: &view.Source{}})
	for path, want := range map[string]string{"/": "text/html; charset=utf-8", "/app.js": "text/javascript; charset=utf-8", "/style.css": "text/css; charset=utf-8", "/icon.svg": "image/svg+xml"} {
		r, _ := http.NewRequest("GET", "http://localhost"+path, nil)
		w := &answer{header: http.Header{}}
		if server.ServeHTTP(w, r); w.code != 200 || w.header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s", path, w.code, w.header.Get("Content-Type"))
		}
	}
}
