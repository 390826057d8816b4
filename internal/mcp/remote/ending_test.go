package remote

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/test/must"
)

// slowPeer is a proxy that takes a while to hear of an end.
type slowPeer struct {
	mcp.Peer
	heard chan string
}

func (p *slowPeer) Opened() {}
func (p *slowPeer) Ended(mcp.End) {
	time.Sleep(time.Second)
	p.heard <- "ended"
}
func (p *slowPeer) Lost(m mcp.Outgoing, _ relay.Loss) { p.heard <- "lost " + m.ID }

// What is sent to a connection that is ending is reported when the proxy knows of the end: else it would be sent there again, and
// again, until there is no try left. That happened with servers of 2024-11-05, whose stream ends before the proxy hears of it.
func TestConn_LosesNothingBeforeItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		at, _ := url.Parse("http://example.com")
		s, err := New(Options{URL: at, RoundTripper: roundTripper(nil)}, nil)
		must.OK(t, err)
		p := &slowPeer{heard: make(chan string, 2)}
		c := s.Connect(t.Context(), p)
		c.Open()
		c.Stop()
		synctest.Wait()
		c.Send(mcp.Outgoing{ID: "1", Method: "tools/call", Body: []byte("{}")})
		if first, second := <-p.heard, <-p.heard; first != "ended" || second != "lost 1" {
			t.Errorf("%s, then %s", first, second)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (roundTripper) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(""))}, context.Canceled
}
