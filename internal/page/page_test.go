package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/gate"
	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/built"
	"github.com/belay-run/belay/internal/journal"
	"github.com/belay-run/belay/internal/look"
	"github.com/belay-run/belay/internal/page"
	"github.com/belay-run/belay/internal/page/view"
	"github.com/belay-run/belay/internal/record"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/supervise"
	"github.com/belay-run/belay/internal/telemetry/metrics"
	"github.com/belay-run/belay/internal/test/must"
)

// site is a server that listens, and its state.
type site struct {
	t      *testing.T
	server *page.Server
	state  *state.State
	source *view.Source
	at     string // host and port
}

func newSite(t *testing.T, o page.Options) *site {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	s, err := state.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	d, err := record.Open(s.Dir)
	must.OK(t, err)
	o.Source = &view.Source{State: s, DB: d}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.OK(t, err)
	server := page.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- server.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		d.Close()
	})
	return &site{t, server, s, o.Source, l.Addr().String()}
}

// call is a request, and what is special about it.
type call struct {
	method, path, host, origin, session, body string
	header                                    map[string]string
}

func (s *site) ask(c call) (code int, body string, header http.Header) {
	s.t.Helper()
	method := c.method
	if method == "" {
		method = http.MethodGet
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, "http://"+s.at+c.path, strings.NewReader(c.body))
	must.OK(s.t, err)
	if c.host != "" {
		req.Host = c.host
	}
	req.Header.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Origin": c.origin, "Authorization": c.session} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	for name, value := range c.header {
		req.Header.Set(name, value)
	}
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	must.OK(s.t, err)
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	must.OK(s.t, err)
	return res.StatusCode, string(data), res.Header
}

// enter is a session.
func (s *site) enter() string {
	s.t.Helper()
	code, body, _ := s.ask(call{method: "POST", path: "/api/session", body: `{"token":"` + s.server.Ticket() + `"}`})
	var got struct{ Session string }
	if code != 200 || json.Unmarshal([]byte(body), &got) != nil || got.Session == "" {
		s.t.Fatalf("no session: %d %s", code, body)
	}
	return "Bearer " + got.Session
}

func TestPage_Refuses(t *testing.T) {
	s := newSite(t, page.Options{})
	session := s.enter()
	used := s.server.Ticket()
	s.ask(call{method: "POST", path: "/api/session", body: `{"token":"` + used + `"}`})
	for _, test := range []struct {
		name string
		call call
		want int
	}{
		{"the page itself", call{path: "/"}, 200},
		{"a file", call{path: "/app.js"}, 200},
		{"a view", call{path: "/api/now", session: session}, 200},
		{"through ssh -L, on another port", call{path: "/api/now", session: session, host: "localhost:9999", origin: "http://localhost:9999"}, 200},
		{"a foreign host", call{path: "/api/now", session: session, host: "evil.example:80"}, 403},
		{"a foreign host for a file", call{path: "/", host: "evil.example"}, 403},
		{"a host that begins as ours", call{path: "/", host: "127.0.0.1.evil.example"}, 403},
		{"localhost in a longer name", call{path: "/", host: "localhost.evil.example"}, 403},
		{"no host's address but another's", call{path: "/", host: "192.168.1.1"}, 403},
		{"a foreign origin", call{path: "/api/now", session: session, origin: "http://evil.example"}, 403},
		{"an origin on another port", call{path: "/api/now", session: session, origin: "http://127.0.0.1:1"}, 403},
		{"an origin with another scheme", call{path: "/api/now", session: session, origin: "https://" + s.at}, 403},
		{"the origin of a file", call{path: "/api/now", session: session, origin: "null"}, 403},
		{"a request across sites", call{path: "/api/now", session: session, header: map[string]string{"Sec-Fetch-Site": "cross-site"}}, 403},
		{"a request of a page on another port", call{path: "/api/now", session: session, header: map[string]string{"Sec-Fetch-Site": "same-site"}}, 403},
		{"the origin of localhost for its address", call{path: "/api/now", session: session, origin: "http://localhost" + s.at[strings.IndexByte(s.at, ':'):]}, 403},
		{"no session", call{path: "/api/now"}, 401},
		{"an empty session", call{path: "/api/now", session: "Bearer "}, 401},
		{"another session", call{path: "/api/now", session: session + "x"}, 401},
		{"a session by Basic", call{path: "/api/now", session: strings.Replace(session, "Bearer", "Basic", 1)}, 401},
		{"a session in the address", call{path: "/api/now?session=" + strings.TrimPrefix(session, "Bearer ")}, 401},
		{"a session in a cookie", call{path: "/api/now", header: map[string]string{"Cookie": "session=" + strings.TrimPrefix(session, "Bearer ")}}, 401},
		{"a change without a session", call{method: "POST", path: "/api/cancel", body: `{"id":"x"}`}, 401},
		{"the stream without a session", call{path: "/api/changes"}, 401},
		{"the output of a run without a session", call{path: "/api/tail?id=x"}, 401},
		{"the output of a run that there is not", call{path: "/api/tail?id=../../x", session: session}, 404},
		{"the output of a run by POST", call{method: "POST", path: "/api/tail?id=x", session: session}, 405},
		{"metrics where there are none", call{path: "/metrics", session: session}, 404},
		{"a used ticket", call{method: "POST", path: "/api/session", body: `{"token":"` + used + `"}`}, 403},
		{"no ticket", call{method: "POST", path: "/api/session", body: `{}`}, 403},
		{"a ticket that cannot be read", call{method: "POST", path: "/api/session", body: `token`}, 400},
		{"a ticket by GET", call{path: "/api/session?token=" + s.server.Ticket()}, 405},
		{"an entry by GET", call{path: "/enter?token=" + s.server.Ticket()}, 405},
		{"an entry without a ticket", call{method: "POST", path: "/enter", origin: "null"}, 403},
		{"a ticket as a session", call{path: "/api/now", session: "Bearer " + s.server.Ticket()}, 401},
		{"a change by GET", call{path: "/api/cancel?id=x", session: session}, 405},
		{"a gate's reset by GET", call{path: "/api/gate/reset", session: session}, 405},
		{"a change by PUT", call{method: "PUT", path: "/api/cancel", session: session}, 405},
		{"a view by POST", call{method: "POST", path: "/api/now", session: session}, 405},
		{"a change as a form", call{method: "POST", path: "/api/gate/reset", session: session, body: "key=x", header: map[string]string{"Content-Type": "text/plain"}}, 400},
		{"a change that is too large", call{method: "POST", path: "/api/cancel", session: session, body: `{"id":"` + strings.Repeat("x", 1<<17) + `"}`}, 400},
		{"a gate without a key", call{method: "POST", path: "/api/gate/reset", session: session, body: `{"key":""}`}, 409},
		{"a gate's key with control characters", call{method: "POST", path: "/api/gate/hold", session: session, body: `{"key":"a\u001b[31m","minutes":1}`}, 409},
		{"a hold without an end", call{method: "POST", path: "/api/gate/hold", session: session, body: `{"key":"api","minutes":1e300}`}, 409},
		{"a hold of no length", call{method: "POST", path: "/api/gate/hold", session: session, body: `{"key":"api"}`}, 409},
		{"a retry by GET", call{path: "/api/batch/retry?results=/x", session: session}, 405},
		{"a retry without a session", call{method: "POST", path: "/api/batch/retry", body: `{"results":"/x"}`}, 401},
		{"a retry of what is no batch", call{method: "POST", path: "/api/batch/retry", session: session, body: `{"results":"/etc/passwd"}`}, 409},
		{"the tasks of a batch without a session", call{path: "/api/batch?results=/x"}, 401},
		{"the tasks of a batch by POST", call{method: "POST", path: "/api/batch?results=/x", session: session}, 405},
		{"the tasks of what is no batch", call{path: "/api/batch?results=/etc/passwd", session: session}, 404},
		{"the tasks of a path upwards", call{path: "/api/batch?results=../../x", session: session}, 404},
		{"the tasks of no path", call{path: "/api/batch", session: session}, 404},
		{"a search for what SQL could read", call{path: "/api/runs?q=%27%29%3B+DROP+TABLE+invocations+--&model=%27&gate=%22&batch=%25&session=%00", session: session}, 200},
		{"an order that is SQL", call{path: "/api/runs?sort=i.id%3B+DROP+TABLE+invocations", session: session}, 200},
		{"a search that is long", call{path: "/api/runs?q=" + strings.Repeat("x", 8<<10), session: session}, 200},
		{"a path upwards", call{path: "/../page.go"}, 404},
		{"an escaped path upwards", call{path: "/%2e%2e/server.go"}, 404},
		{"an escaped slash", call{path: "/api%2fnow", session: session}, 404},
		{"two slashes", call{path: "//app.js"}, 404},
		{"a directory", call{path: "/assets/"}, 404},
		{"a path with a zero", call{path: "/app.js%00"}, 404},
		{"what there is not", call{path: "/api/nothing", session: session}, 404},
		{"what there is not below a view", call{path: "/api/now/more", session: session}, 404},
		{"a file by POST", call{method: "POST", path: "/app.js"}, 405},
	} {
		code, body, header := s.ask(test.call)
		if code != test.want {
			t.Errorf("%s: %d, want %d: %.200s", test.name, code, test.want, body)
		}
		if csp := header.Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'none'; script-src 'self';") || strings.Contains(csp, "unsafe") {
			t.Errorf("%s: the policy is %q", test.name, csp)
		}
		if header.Get("Access-Control-Allow-Origin") != "" || header.Get("Set-Cookie") != "" {
			t.Errorf("%s: other pages may read it, or it has a cookie: %v", test.name, header)
		}
	}
}

// The file that a browser is opened with posts its ticket, and gets to the page with another one.
func TestPage_EntryFromAFile(t *testing.T) {
	s := newSite(t, page.Options{})
	form := map[string]string{"Content-Type": "application/x-www-form-urlencoded"}
	body := url.Values{"token": {s.server.Ticket()}}.Encode()
	code, _, header := s.ask(call{method: "POST", path: "/enter", origin: "null", body: body, header: form})
	_, ticket, ok := strings.Cut(header.Get("Location"), "/#token=")
	if code != 303 || !ok {
		t.Fatalf("%d %v", code, header)
	}
	if code, _, _ = s.ask(call{method: "POST", path: "/enter", origin: "null", body: body, header: form}); code != 403 {
		t.Errorf("its ticket is good twice: %d", code)
	}
	if code, _, _ = s.ask(call{method: "POST", path: "/api/session", body: `{"token":"` + ticket + `"}`}); code != 200 {
		t.Errorf("the second ticket is not good: %d", code)
	}
}

func TestPage_TicketEndsAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := page.New(page.Options{Source: &view.Source{}})
		for _, test := range []struct {
			after time.Duration
			want  int
		}{{59 * time.Second, 200}, {time.Minute, 403}} {
			ticket := server.Ticket()
			time.Sleep(test.after)
			r, _ := http.NewRequest("POST", "http://localhost/api/session", strings.NewReader(`{"token":"`+ticket+`"}`))
			w := &answer{header: http.Header{}}
			if server.ServeHTTP(w, r); w.code != test.want {
				t.Errorf("after %s: %d", test.after, w.code)
			}
		}
	})
}

// answer is a response in memory.
type answer struct {
	header http.Header
	code   int
}

func (a *answer) Header() http.Header { return a.header }
func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(200)
	return len(p), nil
}
func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
}

func TestPage_ReadOnly(t *testing.T) {
	s := newSite(t, page.Options{ReadOnly: true})
	session := s.enter()
	for _, path := range []string{"/api/cancel", "/api/gate/reset", "/api/gate/hold", "/api/batch/retry"} {
		if code, body, _ := s.ask(call{method: "POST", path: path, session: session, body: `{"key":"api","minutes":5}`}); code != 403 {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if gates, _ := s.state.Gates().List(); len(gates) > 0 {
		t.Errorf("a gate has changed: %v", gates)
	}
}

func TestPage_GatesAreHeldAndReset(t *testing.T) {
	s := newSite(t, page.Options{})
	session := s.enter()
	held := func() bool {
		state, err := s.state.Gates().Load("api")
		must.OK(t, err)
		return state.Hold.Live(time.Now())
	}
	if code, body, _ := s.ask(call{method: "POST", path: "/api/gate/hold", session: session, body: `{"key":"api","minutes":5,"reason":"\u001b[31mred"}`}); code != 200 || !held() {
		t.Fatalf("it is not held: %d %s", code, body)
	}
	_, body, _ := s.ask(call{path: "/api/now", session: session})
	if !strings.Contains(body, `"key":"api","state":"held","closed":true`) || strings.Contains(body, "u001b") {
		t.Errorf("now is %s", body)
	}
	if code, body, _ := s.ask(call{method: "POST", path: "/api/gate/reset", session: session, body: `{"key":"api"}`}); code != 200 || held() {
		t.Fatalf("it is still held: %d %s", code, body)
	}
	log, err := s.state.OpenLog()
	must.OK(t, err)
	defer log.Close()
	if text, _ := io.ReadAll(log); strings.Count(string(text), `"gate_`) != 2 {
		t.Errorf("the log has\n%s", text)
	}
}

// stream reads events, which it sends to the channel as "name data".
func (s *site) stream(session string) (events chan string, leave func()) {
	return s.streamOf("/api/changes", session)
}

func (s *site) streamOf(path, session string) (events chan string, leave func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	req, err := http.NewRequestWithContext(ctx, "GET", "http://"+s.at+path, nil)
	must.OK(s.t, err)
	req.Header.Set("Authorization", session)
	res, err := (&http.Transport{}).RoundTrip(req)
	if err != nil || res.StatusCode != 200 {
		s.t.Fatalf("no stream: %v %v", res, err)
	}
	events = make(chan string, 1000)
	go func() {
		defer res.Body.Close()
		name := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = text
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- name + " " + data
			}
		}
		close(events)
	}()
	return events, cancel
}

// comes waits for an event.
func comes(t *testing.T, events chan string, want string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the stream has ended before %q", want)
			}
			if strings.Contains(e, want) {
				return e
			}
		case <-late:
			t.Fatalf("%q does not come", want)
		}
	}
}

func TestPage_TellsWhatChanges(t *testing.T) {
	s := newSite(t, page.Options{})
	events, leave := s.stream(s.enter())
	defer leave()
	comes(t, events, "hello ")
	comes(t, events, `now {"runs":[]`)
	rec, err := s.state.CreateRecord(supervise.Record{ID: "aaaaaaaa-1", Command: "claude", Profile: "claude", Started: time.Now(), Attempt: 1})
	must.OK(t, err)
	comes(t, events, `now {"runs":[{"id":"aaaaaaaa-1"`)
	rec.Activity = "Bash"
	must.OK(t, rec.Update())
	comes(t, events, `"activity":"Bash"`)
	must.OK(t, s.state.Gates().Update("api", time.Now(), func(g gate.State) gate.State { return g.Held(time.Now(), time.Now().Add(time.Hour), "maintenance") }))
	comes(t, events, `"gates":[{"key":"api"`)
	log := journal.Log{Path: s.state.LogPath()}
	must.OK(t, log.Append(journal.Entry{Timestamp: journal.Time{Time: time.Now()}, Invocation: "aaaaaaaa-1", Profile: "claude", Command: "claude", Attempt: 1, Status: journal.Success}))
	comes(t, events, "record ")
	must.OK(t, rec.Remove())
	comes(t, events, `now {"runs":[]`)
}

// A batch is told of when it is started, when a task has begun or ended, and when it is over or was killed.
func TestPage_TellsOfBatches(t *testing.T) {
	s := newSite(t, page.Options{})
	session := s.enter()
	events, leave := s.stream(session)
	defer leave()
	comes(t, events, "batches ") // however they stand
	results := filepath.Join(t.TempDir(), "answers.jsonl")
	stands := func(want string) {
		t.Helper()
		comes(t, events, "batches ")
		for late := time.Now().Add(time.Minute); ; comes(t, events, "batches ") {
			if _, body, _ := s.ask(call{path: "/api/batches", session: session}); strings.Contains(body, want) {
				return
			} else if time.Now().After(late) {
				t.Fatalf("no %s in %s", want, body)
			}
		}
	}
	ledger, err := batch.OpenLedger(results, "tasks.txt")
	must.OK(t, err)
	must.OK(t, (batch.Registry{Dir: s.state.BatchDir()}).Note(batch.Entry{Results: results, Tasks: "tasks.txt", Dir: "/x", Started: time.Now()}))
	stands(`"holder":{"pid":`)
	(&batch.Batch{Ledger: ledger}).Note(batch.Progress{Total: 9, Running: 2})
	stands(`"total":9,"done":0,"failed":0,"skipped":0,"paused":0,"running":2`)
	if f, err := os.OpenFile(results, os.O_APPEND|os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	} else {
		io.WriteString(f, `{"task":"a","hash":"0123456789abcdef","state":"done","cost_usd":0.25,"index":0,"success":true}`+"\n")
		f.Close()
	}
	stands(`"total":9,"done":1`)
	if err := ledger.Close(false); err != nil { // the file stays as it is, as after a kill
		t.Fatal(err)
	}
	stands(`"holder":null`)
}

// Failed tasks run again by the command that is on record, in its directory, and in no other case.
func TestPage_RetriesABatch(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its belay is a script")
	}
	s := newSite(t, page.Options{})
	session := s.enter()
	dir := t.TempDir()
	results := filepath.Join(dir, "answers.jsonl")
	s.source.Belay = filepath.Join(dir, "belay")
	script := "#!/bin/sh\n[ -e refuse ] && { echo 'belay: <b>no</b> tasks\033[31m' >&2; echo more >&2; exit 2; }\nprintf '%s\\n' \"$PWD\" \"$@\" >called\necho 12345678-1234\n"
	must.OK(t, built.WriteFile(s.source.Belay, []byte(script)))
	entry := batch.Entry{Results: results, Tasks: "tasks.txt", Dir: dir, Started: time.Now(), Retry: "belay batch --retry-failed …", Again: []string{"--retry-failed", "tasks.txt", "-o", "answers.jsonl", "--", "sh", "-c", "it's $0; {}"}}
	note := func(e batch.Entry) {
		t.Helper()
		must.OK(t, (batch.Registry{Dir: s.state.BatchDir()}).Note(e))
	}
	retry := func(want int, text string) {
		t.Helper()
		os.Remove(filepath.Join(dir, "called"))
		body, _ := json.Marshal(map[string]string{"results": results})
		code, said, _ := s.ask(call{method: "POST", path: "/api/batch/retry", session: session, body: string(body)})
		if code != want || !strings.Contains(said, text) {
			t.Errorf("%d %s, want %d %s", code, said, want, text)
		}
		if _, err := os.Stat(filepath.Join(dir, "called")); (err == nil) != (want == 200) {
			t.Errorf("%s: was it run? %v", text, err)
		}
	}
	write := func(state string) {
		t.Helper()
		must.OK(t, os.WriteFile(results, []byte(`{"task":"a","hash":"0123456789abcdef","state":"`+state+`","cost_usd":0,"index":0,"success":false,"error":"no luck","error_type":"network","profile":"claude"}`+"\n"), 0o600))
	}
	retry(409, "no such batch")
	write("done")
	note(entry)
	retry(409, "no task")
	write("failed")
	retry(200, "running 1 failed task of answers.jsonl again, as detached run 678-1234")
	if _, body, _ := s.ask(call{path: "/api/batches", session: session}); !strings.Contains(body, `"can_retry":true`) || strings.Contains(body, `"again"`) {
		t.Errorf("the view is %s", body)
	}
	retry(200, "running")
	real, err := filepath.EvalSymlinks(dir)
	must.OK(t, err)
	if got, _ := os.ReadFile(filepath.Join(dir, "called")); string(got) != real+"\nbatch\n--detach\n--retry-failed\ntasks.txt\n-o\nanswers.jsonl\n--\nsh\n-c\nit's $0; {}\n" {
		t.Errorf("it was called with\n%s", got)
	}
	os.WriteFile(filepath.Join(dir, "refuse"), nil, 0o600)
	retry(409, "the failed tasks of answers.jsonl were not run again: <b>no</b> tasks")
	os.Remove(filepath.Join(dir, "refuse"))
	ledger, err := batch.OpenLedger(results, "tasks.txt")
	must.OK(t, err)
	retry(409, "still running")
	ledger.Close(true)
	old := entry
	old.Again = nil
	note(old)
	retry(409, "not on record")
	gone := entry
	gone.Dir = filepath.Join(dir, "gone")
	note(gone)
	retry(409, "is gone")
	if _, body, _ := s.ask(call{path: "/api/batches?again", session: session}); strings.Contains(body, "can_retry") || !strings.Contains(body, `"retry":"belay batch`) {
		t.Errorf("the view is %s", body)
	}
}

// A hundred pages are told the same, and one that does not read holds up none of the others.
func TestPage_ManyPagesAndASlowOne(t *testing.T) {
	s := newSite(t, page.Options{})
	session := s.enter()
	slow, err := net.Dial("tcp", s.at)
	must.OK(t, err)
	defer slow.Close()
	slow.(*net.TCPConn).SetReadBuffer(4 << 10)
	io.WriteString(slow, "GET /api/changes HTTP/1.1\r\nHost: "+s.at+"\r\nAuthorization: "+session+"\r\n\r\n")
	var streams []chan string
	for range 100 {
		events, leave := s.stream(session)
		defer leave()
		comes(t, events, "hello ")
		streams = append(streams, events)
	}
	rec, err := s.state.CreateRecord(supervise.Record{ID: "aaaaaaaa-1", Command: "claude", Profile: "claude", Started: time.Now()})
	must.OK(t, err)
	defer rec.Remove()
	var all sync.WaitGroup
	for _, events := range streams {
		all.Go(func() { comes(t, events, `"id":"aaaaaaaa-1"`) })
	}
	all.Wait()
}

// What a run prints is told to who looks, through a socket that is there only for so long.
func TestPage_OutputOfARun(t *testing.T) {
	s := newSite(t, page.Options{})
	const id = "aaaaaaaa-bbbb-1"
	rec, err := s.state.CreateRecord(supervise.Record{ID: id, Command: "claude", Profile: "claude", Started: time.Now(), Attempt: 1})
	must.OK(t, err)
	events, leave := s.streamOf("/api/tail?id="+id, s.enter())
	defer leave()
	comes(t, events, "hello ")
	conns := s.state.Looks().Dial(id, map[string]bool{})
	if len(conns) != 1 {
		t.Fatalf("%d look", len(conns))
	}
	sockets, err := filepath.Glob(filepath.Join(s.state.Looks().Dir, "*"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets: %v, %v", sockets, err)
	}
	if info, err := os.Lstat(sockets[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket: %v, %v", info.Mode(), err)
	}
	sender := look.NewSender(conns[0], func() {})
	defer sender.Close()
	must.OK(t, sender.Send(look.NewLine(1, []byte("hello from the agent"))))
	comes(t, events, `line {"attempt":1,"text":"hello from the agent"}`)
	must.OK(t, rec.Remove())
	comes(t, events, "end ")
	if left, _ := filepath.Glob(sockets[0]); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// So many pages can look at the output of runs at the same time, and no more: each has a socket.
func TestPage_ManyOutputs(t *testing.T) {
	s := newSite(t, page.Options{})
	session := s.enter()
	rec, err := s.state.CreateRecord(supervise.Record{ID: "aaaaaaaa-bbbb-1", Command: "claude", Profile: "claude", Started: time.Now(), Attempt: 1})
	must.OK(t, err)
	defer rec.Remove()
	for range 32 {
		events, leave := s.streamOf("/api/tail?id="+rec.ID, session)
		defer leave()
		comes(t, events, "hello ")
	}
	if code, body, _ := s.ask(call{path: "/api/tail?id=" + rec.ID, session: session}); code != 503 {
		t.Errorf("%d %s", code, body)
	}
	if code, _, _ := s.ask(call{path: "/api/now", session: session}); code != 200 {
		t.Errorf("other requests are refused too: %d", code)
	}
}

// Metrics have a token of their own: the session of a page does not open them, nor the token the page.
func TestPage_Metrics(t *testing.T) {
	token := "secret"
	answer := metrics.Handler(func(context.Context) (metrics.Snapshot, error) { return metrics.Snapshot{}, nil }, func() (string, error) { return token, nil })
	s := newSite(t, page.Options{Metrics: answer})
	session := s.enter()
	for _, test := range []struct {
		name string
		call call
		want int
	}{
		{"with the token", call{path: "/metrics", session: "Bearer secret"}, 200},
		{"without", call{path: "/metrics"}, 401},
		{"with the session of a page", call{path: "/metrics", session: session}, 401},
		{"from a page elsewhere", call{path: "/metrics", session: "Bearer secret", origin: "http://evil.example"}, 403},
		{"by another host", call{path: "/metrics", session: "Bearer secret", host: "evil.example"}, 403},
		{"by POST", call{method: "POST", path: "/metrics", session: "Bearer secret"}, 405},
		{"a view with the token", call{path: "/api/now", session: "Bearer secret"}, 401},
	} {
		if code, body, _ := s.ask(test.call); code != test.want {
			t.Errorf("%s: %d %s", test.name, code, body)
		}
	}
	token = ""
	if code, _, _ := s.ask(call{path: "/metrics", session: "Bearer "}); code != 401 {
		t.Errorf("an empty token is let in: %d", code)
	}
}

// What was said in a session is read from the CLI's own record, and shown without secrets. Nothing but the id of a session leads to one.
func TestPage_Session(t *testing.T) {
	home := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", home)
	const id, secret = "11111111-1111-4111-8111-111111111111", "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	path := filepath.Join(home, "projects", "-work", id+".jsonl")
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte(`{"type":"user","message":{"role":"user","content":"<b>mend it</b> `+secret+`"},"uuid":"a","sessionId":"`+id+`"}`+"\n"), 0o600))
	s := newSite(t, page.Options{})
	session := s.enter()
	code, body, _ := s.ask(call{path: "/api/session/parts?id=" + id, session: session})
	if code != 200 || !strings.Contains(body, "mend it") || strings.Contains(body, secret) || strings.Contains(body, "<b>") {
		t.Errorf("%d %s", code, body)
	}
	for _, other := range []string{"", "*", "..%2F-work%2F" + id, strings.Replace(id, "8", "9", 1)} {
		if code, body, _ := s.ask(call{path: "/api/session/parts?id=" + other, session: session}); code != 404 {
			t.Errorf("%q: %d %s", other, code, body)
		}
	}
	if code, _, _ := s.ask(call{path: "/api/session/parts?id=" + id}); code != 401 {
		t.Errorf("without a session of the page: %d", code)
	}
}
