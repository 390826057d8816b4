package remote

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/test/must"
)

// hastyServer opens every stream, says one event and where in the stream it is, and ends it.
type hastyServer struct {
	opened atomic.Int64
	field  string        // of each event, beside its id
	lasts  time.Duration // how long a stream is open
}

func (s *hastyServer) RoundTrip(r *http.Request) (*http.Response, error) {
	n := s.opened.Add(1)
	body, ours := io.Pipe()
	go func() {
		fmt.Fprintf(ours, "id: %d\n%sdata:\n\n", n, s.field)
		time.Sleep(s.lasts)
		ours.Close()
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, Request: r}, nil
}

// waitingPeer waits for an answer until its server has opened enough streams.
type waitingPeer struct {
	mcp.Peer
	server *hastyServer
	enough int64
}

func (p *waitingPeer) Inbox() *mcp.Inbox { return nil }
func (p *waitingPeer) Waits(string) (time.Time, bool) {
	return time.Time{}, p.server.opened.Load() < p.enough
}

// A stream that its server ends as soon as it is opened is not opened again as fast as the network allows, which was 27 times a second. What the server says
// counts, and a stream that was open for long, or has ended once, is resumed at once.
func TestStream_Pace(t *testing.T) {
	for _, c := range []struct {
		name        string
		server      *hastyServer
		least, most time.Duration // for 20 streams
	}{
		{"EndsEarly", &hastyServer{}, 18 * time.Second, 38 * time.Second},
		{"AsTold", &hastyServer{field: "retry: 100\n"}, 1900 * time.Millisecond, 2100 * time.Millisecond},
		{"OpenForLong", &hastyServer{lasts: time.Minute}, 20 * time.Minute, 20*time.Minute + 5*time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				at, _ := url.Parse("http://example.com")
				s, err := New(Options{URL: at, RoundTripper: c.server}, nil)
				must.OK(t, err)
				conn := s.Connect(t.Context(), &waitingPeer{server: c.server, enough: 20}).(*conn)
				x := &exchange{conn: conn, m: mcp.Outgoing{ID: "1", Method: "tools/call"}, ctx: t.Context(), cancel: func() {}}
				began := time.Now()
				resp, _ := c.server.RoundTrip(nil)
				x.follow(resp)
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("a request resumed 19 times in %s", took)
				}
			})
		})
	}
	t.Run("Listening", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			at, _ := url.Parse("http://example.com")
			server := &hastyServer{}
			s, err := New(Options{URL: at, RoundTripper: server}, nil)
			must.OK(t, err)
			conn := s.Connect(t.Context(), &waitingPeer{server: server}).(*conn)
			time.AfterFunc(time.Minute, conn.listenCancel)
			conn.listenOn()
			if n := server.opened.Load(); n < 30 || n > 60 {
				t.Errorf("opened %d times in a minute", n)
			}
		})
	})
}
