package remote_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/remote"
)

// A stream that breaks off is resumed where it was, with what the server wants: the place, and a wait.
func TestRemote_StreamIsResumed(t *testing.T) {
	t.Parallel()
	var cut time.Time
	f := newFaulty(t, func(w http.ResponseWriter, _ *http.Request, _ request, _ int) {
		event(w, "id: seven\nretry: 120\ndata:\n\n")
		cut = time.Now()
		abort()
	})
	var waited time.Duration
	f.get = func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Last-Event-ID") != "seven" {
			http.Error(w, "no stream", http.StatusMethodNotAllowed)
			return
		}
		waited = time.Since(cut)
		event(w, "id: eight\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":"+said("resumed")+"}\n\n")
	}
	c := connect(t, f.URL, remote.Options{}, mcp.Options{})
	c.opens()
	has(t, "call", c.calls("1", "add", "{}"), "resumed")
	if waited < 120*time.Millisecond || f.calls["add"] != 1 {
		t.Errorf("it was resumed after %v, and called %d times", waited, f.calls["add"])
	}
}

// The server speaks unasked on a stream of its own, and what the client answers gets to it.
func TestRemote_ServerAsks(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, nil)
	answered := make(chan struct{})
	f.get = func(w http.ResponseWriter, r *http.Request) {
		event(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"roots/list\"}\n\n")
		event(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n")
		<-r.Context().Done()
	}
	c := connect(t, f.URL, remote.Options{RoundTripper: spy(func(r *http.Request, body []byte) {
		if strings.Contains(string(body), `"roots":[]`) {
			close(answered)
		}
	})}, mcp.Options{})
	c.opens()
	c.waitFor("request of the server", func() bool { return strings.Contains(strings.Join(c.lines, ""), "roots/list") })
	c.waitFor("notification", func() bool { return strings.Contains(strings.Join(c.lines, ""), "list_changed\"}") })
	c.says(`{"jsonrpc":"2.0","id":"q","result":{"roots":[]}}`)
	select {
	case <-answered:
	case <-time.After(time.Minute):
		t.Error("the server has no answer")
	}
}

// spy looks at requests before they are sent.
type spy func(r *http.Request, body []byte)

func (s spy) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		body, _ = io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s(r, body)
	return http.DefaultTransport.RoundTrip(r)
}

// A server that has forgotten a session is told all that the client has set, and what was asked meanwhile waits for that.
func TestRemote_SessionIsOpenedAgain(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, func(w http.ResponseWriter, _ *http.Request, m request, _ int) { answer(w, m.ID, said("fine")) })
	c := connect(t, f.URL, remote.Options{Headers: []remote.Header{{Name: "X-Key", Variable: "KEY"}}}, mcp.Options{})
	c.opens()
	c.asks(`"level"`, `{"jsonrpc":"2.0","id":"level","method":"logging/setLevel","params":{"level":"debug"}}`)
	f.forget()
	for i := range 16 {
		c.says(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"add","arguments":{}}}`, i)
	}
	for i := range 16 {
		has(t, "call", c.answer(fmt.Sprint(i)), "fine")
	}
	c.stop()
	if f.opened != 2 || f.calls["add"] != 16 {
		t.Errorf("%d sessions, %d calls", f.opened, f.calls["add"])
	}
	if want := []string{"notifications/initialized", "notifications/initialized"}; !slices.Equal(f.told, want) {
		t.Errorf("the server was told %q", f.told)
	}
	last := f.requests[len(f.requests)-1]
	if last.Method != http.MethodDelete || last.Header.Get("Mcp-Session-Id") != "session-2" {
		t.Errorf("the last request is %s %s", last.Method, last.Header)
	}
	for _, r := range f.requests {
		if first := r.Header.Get("Mcp-Session-Id") == ""; r.Header.Get("X-Key") != "value-of-KEY" || (r.Header.Get("Mcp-Protocol-Version") != version) != first {
			t.Errorf("%s %s", r.Method, r.Header)
		}
	}
	for _, e := range c.log {
		if e.Event != "session_lost" || e.Status != "retry" {
			t.Errorf("%+v", e)
		}
	}
}

// A request that is taken back is taken back at the server too, after it has got there.
func TestRemote_Cancellation(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	gone := make(chan struct{})
	f := newFaulty(t, func(w http.ResponseWriter, r *http.Request, _ request, _ int) {
		event(w, ": wait\n\n")
		close(arrived)
		<-r.Context().Done()
		close(gone)
	})
	c := connect(t, f.URL, remote.Options{}, mcp.Options{})
	c.opens()
	c.says(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{}}}`)
	<-arrived
	c.says(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	<-gone
	c.stop()
	if len(c.answers["1"]) != 0 || !slices.Contains(f.told, "notifications/cancelled") {
		t.Errorf("%q, the server was told %q", c.answers["1"], f.told)
	}
}

// Redirects are followed on the same server, with the message. Another server gets nothing.
func TestRemote_Redirects(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, nil)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s %s", r.Method, r.Header) }))
	defer elsewhere.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/mcp":
			http.Redirect(w, r, "/mcp/", http.StatusMovedPermanently)
		case "/away":
			http.Redirect(w, r, elsewhere.URL+"/mcp?key=secret", http.StatusTemporaryRedirect)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		default:
			f.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(web.CloseClientConnections)
	token := remote.Options{Headers: []remote.Header{{Name: "Authorization", Variable: "KEY", Prefix: "Bearer "}}}
	has(t, "same server", connect(t, web.URL+"/mcp", token, mcp.Options{}).opens(), `"serverInfo"`)
	got := connect(t, web.URL+"/away", token, mcp.Options{}).opens()
	has(t, "another server", got, "redirects to another origin, "+elsewhere.URL, "change --url")
	if strings.Contains(got, "secret") {
		t.Error(got)
	}
	has(t, "no server", connect(t, web.URL+"/round", token, mcp.Options{}).opens(), "redirects again and again")
}

// Whatever a server does with a credential, it is not in what we say or write down.
func TestRemote_NoCredentialIsTold(t *testing.T) {
	t.Parallel()
	for name, handler := range map[string]http.HandlerFunc{
		"Echoed": func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "bad key "+r.Header.Get("X-Key")+" for "+r.URL.String(), http.StatusForbidden)
		},
		"Unauthorized": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
		"Cut":          func(http.ResponseWriter, *http.Request) { abort() },
	} {
		t.Run(name, func(t *testing.T) {
			web := httptest.NewServer(handler)
			defer web.Close()
			c := connect(t, web.URL+"/mcp?api_key=tOpSeCrEt12345", remote.Options{Headers: []remote.Header{{Name: "X-Key", Variable: "KEY"}}}, mcp.Options{Settings: relay.Settings{NoRetry: true}})
			got := c.opens()
			c.stop()
			log, _ := json.Marshal(c.log)
			for _, text := range []string{got, string(log)} {
				if strings.Contains(text, "value-of-KEY") || strings.Contains(text, "tOpSeCrEt12345") {
					t.Error(text)
				}
			}
			has(t, "answer", got, `"error"`)
		})
	}
}

// A server that wants a login is the client's, and says so; a credential that it does not take is named by its variable.
func TestRemote_Login(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="https://example.com/.well-known/oauth-protected-resource"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer web.Close()
	has(t, "no credential", connect(t, web.URL, remote.Options{}, mcp.Options{}).opens(), "asks for a login (401)", "without belay", "--bearer-env")
	key := []remote.Header{{Name: "Authorization", Variable: "KEY", Prefix: "Bearer "}}
	has(t, "a bad one", connect(t, web.URL, remote.Options{Headers: key}, mcp.Options{}).opens(), "401 Unauthorized to the credentials from KEY")
	has(t, "none there", connect(t, web.URL, remote.Options{Headers: []remote.Header{{Name: "X", Variable: "UNSET"}}}, mcp.Options{}).opens(), "UNSET is not set")
}

// A server that is not there yet is waited for; the request has not been sent by then.
func TestRemote_Restart(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, func(w http.ResponseWriter, _ *http.Request, m request, _ int) { answer(w, m.ID, said("fine")) })
	c := connect(t, f.URL, remote.Options{}, mcp.Options{})
	c.opens()
	has(t, "before", c.calls("1", "add", "{}"), "fine")
	at := f.Listener.Addr().String()
	f.Close()
	time.Sleep(200 * time.Millisecond) // what is sent on a connection in the moment of its end may have been carried out
	c.says(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{}}}`)
	time.Sleep(100 * time.Millisecond)
	f.forget()
	f.Server = httptest.NewUnstartedServer(f)
	f.Listener.Close()
	f.Listener = listen(t, at)
	f.Start()
	has(t, "during", c.answer("2"), "fine")
	has(t, "after", c.calls("3", "add", "{}"), "fine")
	if f.calls["add"] != 3 {
		t.Errorf("%d calls", f.calls["add"])
	}
}

// The fields that the newest version wants in headers are there, in a form that headers can have.
func TestRemote_StatelessHeaders(t *testing.T) {
	t.Parallel()
	got := make(chan http.Header, 1)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header
		answer(w, json.RawMessage("1"), `{}`)
	}))
	defer web.Close()
	c := connect(t, web.URL, remote.Options{}, mcp.Options{})
	c.asks("1", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"größer","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`)
	h := <-got
	if h.Get("Mcp-Protocol-Version") != "2026-07-28" || h.Get("Mcp-Method") != "tools/call" || h.Get("Mcp-Name") != "=?base64?Z3LDtsOfZXI=?=" {
		t.Errorf("%s", h)
	}
}
