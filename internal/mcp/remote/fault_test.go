package remote_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/mcp"
	"github.com/belay-run/belay/internal/mcp/relay"
	"github.com/belay-run/belay/internal/mcp/remote"
)

// faulty is a server that answers tools as it is told to, and all else well.
type faulty struct {
	*httptest.Server
	// tool answers a call. The first of a tool is number 1.
	tool func(w http.ResponseWriter, r *http.Request, call request, number int)
	get  http.HandlerFunc // nil: there is no stream

	mu       sync.Mutex
	sessions map[string]bool
	opened   int
	calls    map[string]int
	requests []*http.Request
	told     []string // methods of notifications
}

type request struct {
	ID     json.RawMessage
	Method string
	Params struct{ Name string }
}

func newFaulty(t *testing.T, tool func(w http.ResponseWriter, r *http.Request, call request, number int)) *faulty {
	f := &faulty{tool: tool, sessions: map[string]bool{}, calls: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.CloseClientConnections)
	return f
}

// forget drops all sessions.
func (f *faulty) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.sessions)
}

func (f *faulty) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.requests = append(f.requests, r)
	known := f.sessions[r.Header.Get("Mcp-Session-Id")]
	f.mu.Unlock()
	switch r.Method {
	case http.MethodGet:
		if f.get == nil {
			http.Error(w, "no stream", http.StatusMethodNotAllowed)
			return
		}
		f.get(w, r)
		return
	case http.MethodDelete:
		return
	}
	var m request
	body, _ := io.ReadAll(r.Body)
	json.Unmarshal(body, &m)
	if m.Method == "initialize" {
		f.mu.Lock()
		f.opened++
		session := fmt.Sprint("session-", f.opened)
		f.sessions[session] = true
		f.mu.Unlock()
		w.Header().Set("Mcp-Session-Id", session)
		answer(w, m.ID, `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`)
		return
	}
	if !known {
		http.Error(w, "session not found", http.StatusNotFound)
		return
	}
	switch {
	case m.ID == nil:
		f.mu.Lock()
		f.told = append(f.told, m.Method)
		f.mu.Unlock()
		w.WriteHeader(http.StatusAccepted)
	case m.Method == "tools/call":
		f.mu.Lock()
		f.calls[m.Params.Name]++
		number := f.calls[m.Params.Name]
		f.mu.Unlock()
		f.tool(w, r, m, number)
	case m.Method == "tools/list":
		answer(w, m.ID, `{"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"add"}]}`)
	default:
		answer(w, m.ID, `{}`)
	}
}

func answer(w http.ResponseWriter, id json.RawMessage, result string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
}

func said(text string) string { return fmt.Sprintf(`{"content":[{"type":"text","text":%q}]}`, text) }

// event writes one, and sends it off.
func event(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, text)
	w.(http.Flusher).Flush()
}

func abort() { panic(http.ErrAbortHandler) }

// The crash probe: whatever becomes of a call, it is answered once, says what is known of it, and the next one works.
func TestRemote_CrashProbe(t *testing.T) {
	reply := func(m request, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, said(text))
	}
	for name, tt := range map[string]struct {
		tool   func(f *faulty, w http.ResponseWriter, m request, number int)
		look   string // what a safe call is answered with
		add    string // what another one is
		twice  bool   // the other one is sent again: nothing was done
		slowly bool
		small  bool // messages are
	}{
		"CutBeforeAnswer": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				abort()
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "may have taken effect", false, false, false},
		"CutInStream": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				event(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\ndata: {\"jsonrpc\"")
				abort()
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "may have taken effect", false, false, false},
		"CutInJSON": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				w.Header().Set("Content-Length", "1000")
				answer(w, m.ID, said("half"))
				w.(http.Flusher).Flush()
				abort()
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "may have taken effect", false, false, false},
		"EndsWithoutAnswer": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				event(w, ": nothing\n\n")
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "without an answer", false, false, false},
		"SessionForgotten": {func(f *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				f.forget()
				http.Error(w, "session not found", http.StatusNotFound)
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "fine", true, false, false},
		"SessionForgotten400": {func(f *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				f.forget()
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}`)
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "fine", true, false, false},
		"Throttled": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number <= 2 {
				w.Header().Set("Retry-After", "0.1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "fine", true, false, false},
		"Unavailable": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				w.Header().Set("Retry-After-Ms", "50")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "fine", true, false, false},
		"ThrottledForLong": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusTooManyRequests)
		}, "asks to wait 1h", "asks to wait 1h", false, false, false},
		"BadGateway": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				http.Error(w, "upstream gone", http.StatusBadGateway)
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "502 Bad Gateway (upstream gone)", false, false, false},
		"Garbage": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				w.Header().Set("Content-Type", "application/json")
				io.WriteString(w, "{{{{ <html>")
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "does not answer the request", false, false, false},
		"GarbageEvents": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				event(w, "data: garbage\n\nevent: odd\ndata: {}\n\nnonsense\n\n")
			}
			event(w, "data: "+reply(m, "fine")+"\n\n")
		}, "fine", "fine", false, false, false},
		"WrongType": {func(_ *faulty, w http.ResponseWriter, m request, number int) {
			if number == 1 {
				w.Header().Set("Content-Type", "text/html; charset=utf-8")
				io.WriteString(w, "<html>login</html>")
				return
			}
			answer(w, m.ID, said("fine"))
		}, "fine", "sent text/html", false, false, false},
		"Slow": {func(_ *faulty, w http.ResponseWriter, m request, _ int) {
			for _, piece := range strings.SplitAfter("\ufeff: hello\r\nid: 1\rretry: 10\r\ndata: "+reply(m, "fine")+"\r\n\r\n", ":") {
				event(w, piece)
				time.Sleep(5 * time.Millisecond)
			}
		}, "fine", "fine", false, false, false},
		"PrettyJSON": {func(_ *faulty, w http.ResponseWriter, m request, _ int) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			io.WriteString(w, "\ufeff"+strings.ReplaceAll(reply(m, "fine"), ",", ",\r\n  "))
		}, "fine", "fine", false, false, false},
		"SeveralLinesOfData": {func(_ *faulty, w http.ResponseWriter, m request, _ int) {
			event(w, "event: message\ndata: "+strings.Replace(reply(m, "fine"), ",", ",\ndata:", 1)+"\n\n")
		}, "fine", "fine", false, false, false},
		"Large": {func(_ *faulty, w http.ResponseWriter, m request, _ int) {
			if m.Params.Name == "add" {
				answer(w, m.ID, said("fine"))
				return
			}
			before, behind, _ := strings.Cut(reply(m, "fine!"), "!")
			event(w, "data: "+before)
			event(w, strings.Repeat("x", 20<<20))
			event(w, behind+"\n\n")
		}, "fine", "fine", false, false, false},
		"TooLarge": {func(_ *faulty, w http.ResponseWriter, m request, _ int) {
			answer(w, m.ID, said(strings.Repeat("x", 3<<20)))
		}, "the answer has", "the answer has", false, false, true},
		"NeverAnswers": {func(f *faulty, w http.ResponseWriter, m request, number int) {
			event(w, ": wait\n\n")
			time.Sleep(1500 * time.Millisecond)
		}, "did not answer within", "did not answer within", false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f *faulty
			f = newFaulty(t, func(w http.ResponseWriter, _ *http.Request, m request, number int) {
				if m.Params.Name == "after" {
					answer(w, m.ID, said("fine"))
					return
				}
				tt.tool(f, w, m, number)
			})
			limit := 30 * time.Second
			if tt.slowly {
				limit = 500 * time.Millisecond
			}
			most := 32 << 20
			if tt.small {
				most = 2 << 20
			}
			c := connect(t, f.URL, remote.Options{}, mcp.Options{Settings: relay.Settings{Timeout: limit, MaxMessage: most}})
			c.opens()
			c.asks(`"tools"`, `{"jsonrpc":"2.0","id":"tools","method":"tools/list"}`)
			has(t, "a safe call", c.calls("1", "look", "{}"), tt.look)
			has(t, "another call", c.calls("2", "add", "{}"), tt.add)
			has(t, "the next call", c.calls("3", "after", "{}"), "fine")
			c.stop()
			for _, id := range []string{`"init"`, `"tools"`, "1", "2", "3"} {
				if n := len(c.answers[id]); n != 1 {
					t.Errorf("%s was answered %d times", id, n)
				}
			}
			if n := f.calls["add"]; !tt.twice && n != 1 || tt.twice && n < 2 {
				t.Errorf("what is not safe was sent %d times", n)
			}
		})
	}
}
