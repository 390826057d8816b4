package rehearse_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/belay-run/belay/internal/rehearse"
	"github.com/belay-run/belay/internal/test/must"
)

// The faults, as a plain HTTP client sees them, from all stand-ins of models.

func start(t *testing.T, script string) *rehearse.API {
	t.Helper()
	api, err := rehearse.Start(script)
	must.OK(t, err)
	t.Cleanup(func() {
		if err := api.Close(); err != nil {
			t.Error(err)
		}
	})
	return api
}

// asking are requests to the stand-ins, by the way they want the answer.
var asking = map[string]struct{ path, body string }{
	"anthropic":        {"/v1/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}`},
	"anthropic stream": {"/v1/messages", `{"model":"m","max_tokens":9,"stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`},
	"openai":           {"/v1/responses", `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`},
	"openai stream":    {"/v1/responses", `{"model":"m","stream":true,"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]}]}`},
	"chat":             {"/v1/chat/completions", `{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"hi"}]}`},
	"chat stream":      {"/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":[{"type":"text","text":"hi"}]}]}`},
}

// reply is what a client has received.
type reply struct {
	status int
	header http.Header
	body   string
	err    error
}

// send sends one request, on a connection of its own, and gives up after a while.
func send(t *testing.T, api *rehearse.API, how string, timeout time.Duration) reply {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	q := asking[how]
	r, err := http.NewRequestWithContext(ctx, "POST", api.URL()+q.path, strings.NewReader(q.body))
	must.OK(t, err)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(r)
	if err != nil {
		return reply{err: err}
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return reply{res.StatusCode, res.Header, string(body), err}
}

const clientTimeout = 20 * time.Second

// everyWay runs a test with each way of asking.
func everyWay(t *testing.T, test func(t *testing.T, how string)) {
	for how := range asking {
		t.Run(how, func(t *testing.T) { t.Parallel(); test(t, how) })
	}
}

// last waits for the end of the only request.
func last(t *testing.T, api *rehearse.API) rehearse.Request {
	t.Helper()
	for end := time.Now().Add(clientTimeout); time.Now().Before(end); {
		if all := api.Main(); len(all) > 0 && all[len(all)-1].End != rehearse.UnderWay {
			return all[len(all)-1]
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%+v", api.Main())
	return rehearse.Request{}
}

func TestFault_GoodAnswer(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, `200(text="all is well", in=7, out=3)`)
		got := send(t, api, how, clientTimeout)
		if got.err != nil || got.status != 200 {
			t.Fatalf("%+v", got)
		}
		whole := map[string]string{"anthropic": `"end_turn"`, "anthropic stream": "event: message_stop", "openai": `"status":"completed"`, "openai stream": "event: response.completed",
			"chat": `"finish_reason":"stop"`, "chat stream": "data: [DONE]"}[how]
		tokens := `"output_tokens":3`
		if strings.HasPrefix(how, "chat") {
			tokens = `"completion_tokens":3`
		}
		for _, part := range []string{whole, `"model":"m"`, "rehearsal0001", tokens, "well"} {
			if !strings.Contains(got.body, part) {
				t.Errorf("no %s in\n%s", part, got.body)
			}
		}
		q := last(t, api)
		if q.LastMessage != "hi" || q.Status != 200 || q.End != rehearse.Whole || q.Usage.Input != 7 || q.Usage.Output != 3 || q.Model != "m" {
			t.Errorf("%+v", q)
		}
		if rest := api.Unused(); len(rest) != 0 {
			t.Errorf("unused: %q", rest)
		}
	})
}

func TestFault_OtherModel(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, `200(model=other-1)`)
		if got := send(t, api, how, clientTimeout); !strings.Contains(got.body, `"model":"other-1"`) {
			t.Errorf("%+v", got)
		}
		if q := last(t, api); q.Model != "m" { // that was asked
			t.Errorf("%+v", q)
		}
	})
}

func TestFault_Error(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, `429(retry-after=17, x-should-retry=false), 500(message="out of cheese"), 502(body="<html>", content-type=text/html)`)
		got := send(t, api, how, clientTimeout)
		if got.status != 429 || got.header.Get("Retry-After") != "17" || got.header.Get("X-Should-Retry") != "false" {
			t.Errorf("%+v", got)
		}
		var body struct {
			Error struct{ Type, Message, Code string }
		}
		if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Error.Message == "" || body.Error.Type == "" {
			t.Errorf("%v: %s", err, got.body)
		}
		if got := send(t, api, how, clientTimeout); got.status != 500 || !strings.Contains(got.body, "out of cheese") {
			t.Errorf("%+v", got)
		}
		if got := send(t, api, how, clientTimeout); got.status != 502 || got.body != "<html>" || got.header.Get("Content-Type") != "text/html" {
			t.Errorf("%+v", got)
		}
		if u := last(t, api).Usage; u != (rehearse.Usage{}) {
			t.Errorf("an error is charged: %+v", u)
		}
		// After the end of the script requests succeed.
		if got := send(t, api, how, clientTimeout); got.status != 200 {
			t.Errorf("%+v", got)
		}
		if step := last(t, api).Step; step != "200 (after the script)" {
			t.Errorf("%q", step)
		}
	})
}

func TestFault_RetryAfterDate(t *testing.T) {
	t.Parallel()
	got := send(t, start(t, "429(retry-after=date+90s)"), "anthropic", clientTimeout)
	at, err := http.ParseTime(got.header.Get("Retry-After"))
	if in := time.Until(at); err != nil || in < time.Minute || in > 91*time.Second {
		t.Errorf("%q: %v, %v", got.header.Get("Retry-After"), in, err)
	}
}

func TestFault_Overloaded(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		got := send(t, start(t, "overloaded"), how, clientTimeout)
		status, code := 529, "overloaded_error"
		if !strings.HasPrefix(how, "anthropic") {
			status, code = 503, "server_is_overloaded"
		}
		if got.status != status || !strings.Contains(got.body, code) {
			t.Errorf("%+v", got)
		}
	})
}

// A client that does not stream gets as its answer the error that a stream would have had inside.
func TestFault_ErrorInsideWithoutStream(t *testing.T) {
	t.Parallel()
	api := start(t, "overloaded-mid, error-mid(code=boom)")
	if got := send(t, api, "anthropic", clientTimeout); got.status != 529 || !strings.Contains(got.body, "overloaded_error") {
		t.Errorf("%+v", got)
	}
	if got := send(t, api, "openai", clientTimeout); got.status != 500 || !strings.Contains(got.body, "boom") {
		t.Errorf("%+v", got)
	}
}

func TestFault_UsageLimit(t *testing.T) {
	t.Parallel()
	api := start(t, `usage-limit(resets=3h)x3, usage-limit(resets=3h, message="Your limit will reset at {reset}")`)
	got := send(t, api, "anthropic stream", clientTimeout)
	reset, err := strconv.ParseInt(got.header.Get("Anthropic-Ratelimit-Unified-Reset"), 10, 64)
	if in := time.Until(time.Unix(reset, 0)); got.status != 429 || err != nil || in < 179*time.Minute || in > 3*time.Hour {
		t.Errorf("%+v", got)
	}
	got = send(t, api, "openai stream", clientTimeout)
	var body struct {
		Error struct {
			Type     string
			ResetsAt int64 `json:"resets_at"`
		}
	}
	if err := json.Unmarshal([]byte(got.body), &body); err != nil || body.Error.Type != "usage_limit_reached" || body.Error.ResetsAt < time.Now().Unix() {
		t.Errorf("%v: %s", err, got.body)
	}
	got = send(t, api, "chat stream", clientTimeout)
	if in, err := strconv.Atoi(got.header.Get("Retry-After")); got.status != 429 || err != nil || in < 179*60 || in > 180*60 || !strings.Contains(got.body, "GoUsageLimitError") {
		t.Errorf("%+v", got)
	}
	got = send(t, api, "chat stream", clientTimeout)
	_, at, _ := strings.Cut(got.body, "will reset at ")
	at, _, _ = strings.Cut(at, `"`)
	if reset, err := time.Parse("2006-01-02 15:04:05 MST", at); err != nil || time.Until(reset) < 179*time.Minute || time.Until(reset) > 3*time.Hour {
		t.Errorf("%v: %s", err, got.body)
	}
}

func TestFault_HangBeforeHeaders(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, "hang")
		if got := send(t, api, how, 2*time.Second); !errors.Is(got.err, context.DeadlineExceeded) {
			t.Errorf("%+v", got)
		}
		if q := last(t, api); q.End != rehearse.ClientLeft || q.Status != 0 || q.Usage != (rehearse.Usage{}) {
			t.Errorf("%+v", q)
		}
	})
}

// A rehearsal can be closed while a request hangs.
func TestFault_ClosedWhileItHangs(t *testing.T) {
	t.Parallel()
	api := start(t, "hang")
	done := make(chan reply, 1)
	go func() { done <- send(t, api, "anthropic", clientTimeout) }()
	for len(api.Main()) == 0 {
		time.Sleep(5 * time.Millisecond)
	}
	api.Close()
	if got := <-done; got.err == nil {
		t.Errorf("%+v", got)
	}
	if q := last(t, api); q.End != rehearse.Closed {
		t.Errorf("%+v", q)
	}
}

func TestFault_Reset(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, "reset, 200")
		if got := send(t, api, how, clientTimeout); !errors.Is(got.err, syscall.ECONNRESET) && !errors.Is(got.err, io.EOF) {
			t.Errorf("%+v", got)
		}
		if q := last(t, api); q.End != rehearse.CutByUs || q.Status != 0 {
			t.Errorf("%+v", q)
		}
		if got := send(t, api, how, clientTimeout); got.status != 200 {
			t.Errorf("%+v", got)
		}
	})
}

// A stream is cut where the script says; a client that is not streaming gets half a body.
func TestFault_CutInTheMiddle(t *testing.T) {
	for step, cut := range map[string]struct {
		has, hasNot string
		fails       bool // the client sees it without looking at the text
	}{
		"drop-mid":             {"This", "rehearsal.", true},
		"drop-mid(at=start)":   {"rehearsal0001", "This", true},
		"drop-mid(at=block)":   {"rehearsal.", "stop_reason\":\"end_turn", true},
		"end-mid":              {"This", "rehearsal.", false},
		"garbage-mid":          {"%% this is not an answer %%", "rehearsal.", false},
		"overloaded-mid":       {"overloaded", "rehearsal.", false},
		"error-mid(code=boom)": {"boom", "rehearsal.", false},
	} {
		for _, how := range []string{"anthropic stream", "openai stream", "chat stream"} {
			t.Run(step+"/"+how, func(t *testing.T) {
				t.Parallel()
				api := start(t, step)
				got := send(t, api, how, clientTimeout)
				if got.status != 200 || (got.err != nil) != cut.fails {
					t.Errorf("%+v", got)
				}
				if !strings.Contains(got.body, cut.has) && got.err == nil {
					t.Errorf("no %q in\n%s", cut.has, got.body)
				}
				if strings.Contains(got.body, cut.hasNot) {
					t.Errorf("%q in\n%s", cut.hasNot, got.body)
				}
				if q := last(t, api); q.End != rehearse.CutByUs || q.Usage.Output != 0 || q.Usage.Input == 0 {
					t.Errorf("%+v", q)
				}
			})
		}
	}
	for _, how := range []string{"anthropic", "openai", "chat"} {
		t.Run("drop-mid/"+how, func(t *testing.T) {
			t.Parallel()
			if got := send(t, start(t, "drop-mid"), how, clientTimeout); got.err == nil || got.body == "" && !errors.Is(got.err, syscall.ECONNRESET) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestFault_HangInTheMiddle(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, "hang-mid(ping=50ms)")
		got := send(t, api, how, 3*time.Second)
		if got.status != 200 || !errors.Is(got.err, context.DeadlineExceeded) || got.body == "" {
			t.Errorf("%+v", got)
		}
		if strings.HasSuffix(how, "stream") && strings.Count(got.body, "event: ping") < 2 {
			t.Errorf("no pings in\n%s", got.body)
		}
		if q := last(t, api); q.End != rehearse.ClientLeft {
			t.Errorf("%+v", q)
		}
	})
}

func TestFault_Garbage(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		got := send(t, start(t, "garbage"), how, clientTimeout)
		if got.status != 200 || got.err != nil || json.Valid([]byte(got.body)) {
			t.Errorf("%+v", got)
		}
	})
}

func TestFault_Slow(t *testing.T) {
	everyWay(t, func(t *testing.T, how string) {
		api := start(t, "slow(300ms, after=200ms)")
		begun := time.Now()
		got := send(t, api, how, clientTimeout)
		if took := time.Since(begun); got.status != 200 || got.err != nil || took < 500*time.Millisecond {
			t.Errorf("%v: %+v", took, got)
		}
	})
}

// While connections are refused nothing listens; afterwards the stand-in listens at the same address. It runs alone: another
// test's stand-in could be given the address meanwhile.
func TestFault_Refuse(t *testing.T) {
	api := start(t, "200, refuse(3s), 200(text=back)")
	if got := send(t, api, "anthropic", clientTimeout); got.status != 200 {
		t.Fatalf("%+v", got)
	}
	refused := false
	for range 1000 {
		got := send(t, api, "anthropic", clientTimeout)
		if got.err == nil {
			if !strings.Contains(got.body, "back") {
				t.Errorf("%+v", got)
			}
			break
		}
		refused = refused || errors.Is(got.err, syscall.ECONNREFUSED)
		time.Sleep(50 * time.Millisecond)
	}
	if !refused || len(api.Main()) != 2 {
		t.Errorf("refused: %v; %+v", refused, api.Main())
	}
}

// Connections that are there already get no answer either, whether the request before them is still running or has just been answered.
func TestFault_RefuseAtOnce(t *testing.T) {
	api := start(t, "hang, refuse(200ms), 200(text=back)")
	first, leave := context.WithCancel(t.Context())
	go func() {
		r, _ := http.NewRequestWithContext(first, "POST", api.URL()+asking["anthropic"].path, strings.NewReader(asking["anthropic"].body))
		http.DefaultClient.Do(r)
	}()
	for len(api.Main()) == 0 {
		time.Sleep(time.Millisecond)
	}
	for _, how := range []string{"anthropic", "openai stream", "chat"} {
		if got := send(t, api, how, clientTimeout); got.err == nil {
			t.Errorf("%s: %+v", how, got)
		}
	}
	leave()
	for range 1000 {
		if got := send(t, api, "openai", clientTimeout); got.err == nil {
			if !strings.Contains(got.body, "back") {
				t.Errorf("%+v", got)
			}
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := len(api.Main()); n != 2 {
		t.Errorf("%d requests: %+v", n, api.Main())
	}
}

func TestFault_RefuseFromTheStart(t *testing.T) {
	t.Parallel()
	api := start(t, "refuse")
	if c, err := net.Dial("tcp", strings.TrimPrefix(api.URL(), "http://")); err == nil {
		c.Close()
		t.Error("somebody listens")
	}
	if rest := api.Unused(); len(rest) != 0 {
		t.Errorf("unused: %q", rest)
	}
}

// Twenty in a window pass, the others are told when to come back.
func TestFault_Limit(t *testing.T) {
	for _, form := range []string{"seconds", "date", "none"} {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			api := start(t, "limit(3/8s, retry-after="+form+")")
			var throttled reply
			for i := range 5 {
				got := send(t, api, "anthropic", clientTimeout)
				if want := map[bool]int{true: 200, false: 429}[i < 3]; got.status != want {
					t.Errorf("request %d: %d", i, got.status)
				}
				throttled = got
			}
			after := throttled.header.Get("Retry-After")
			switch n, err := strconv.Atoi(after); {
			case form == "none" && after != "", form == "seconds" && (err != nil || n < 1 || n > 8):
				t.Errorf("Retry-After: %q", after)
			case form == "date":
				if at, err := http.ParseTime(after); err != nil || time.Until(at) > 10*time.Second {
					t.Errorf("Retry-After: %q, %v", after, err)
				}
			}
			time.Sleep(8100 * time.Millisecond)
			if got := send(t, api, "openai", clientTimeout); got.status != 200 {
				t.Errorf("in the next window: %d", got.status)
			}
		})
	}
}

// The seed makes the same mix every time, of about the share that was asked for.
func TestFault_Mix(t *testing.T) {
	t.Parallel()
	outcomes := func(seed string) (list string, bad int) {
		api := start(t, `mix(20%, seed=`+seed+`, of="429, 500")`)
		for range 200 {
			got := send(t, api, "anthropic", clientTimeout)
			list += strconv.Itoa(got.status) + " "
			if got.status != 200 {
				bad++
			}
		}
		return list, bad
	}
	one, bad := outcomes("1")
	again, _ := outcomes("1")
	other, _ := outcomes("2")
	if one != again || one == other || bad < 20 || bad > 65 || !strings.Contains(one, "429") || !strings.Contains(one, "500") {
		t.Errorf("%d faults; same: %v; other: %v", bad, one == again, one == other)
	}
}

// What is not part of the work takes no step, and is on record.
func TestFault_SideRequests(t *testing.T) {
	t.Parallel()
	api := start(t, "500x*")
	for _, q := range []struct{ method, path, body string }{
		{"HEAD", "/", ""},
		{"POST", "/v1/messages/count_tokens", "{}"},
		{"GET", "/v1/models", ""},
		{"POST", "/v1/messages", `{"model":"claude-haiku-9","max_tokens":1,"messages":[{"role":"user","content":"quota"}]}`},
		{"POST", "/v1/messages", `{"model":"claude-x","max_tokens":99,"tools":[{"name":"Bash"}],"messages":[{"role":"user","content":"Warmup"}]}`},
		{"POST", "/v1/messages", `{"model":"claude-haiku-9","max_tokens":99,"messages":[{"role":"user","content":"a title, please"}]}`},
		{"POST", "/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"system","content":"You are a title generator. You output ONLY a thread title."},{"role":"user","content":"hi"}]}`},
	} {
		r, err := http.NewRequestWithContext(t.Context(), q.method, api.URL()+q.path, strings.NewReader(q.body))
		must.OK(t, err)
		res, err := http.DefaultClient.Do(r)
		must.OK(t, err)
		res.Body.Close()
		if res.StatusCode != 200 {
			t.Errorf("%s %s: %d", q.method, q.path, res.StatusCode)
		}
	}
	if len(api.Main()) != 0 || len(api.Requests()) != 7 {
		t.Errorf("%+v", api.Requests())
	}
}

// A shell is called by the name that the CLI has for it, with all that it asks for.
func TestFault_Shell(t *testing.T) {
	t.Parallel()
	api := start(t, "tool(bash: make test)x*")
	for offered, want := range map[string]string{
		`{"name":"bash","parameters":{"required":["command"],"properties":{"command":{"type":"string"}}}}`:                                                                                             `bash {"command":"make test","description":"Rehearses a command"}`,
		`{"name":"run_commands","parameters":{"required":["commands"],"properties":{"commands":{"type":"array"}}}}`:                                                                                    `run_commands {"commands":["make test"]}`,
		`{"name":"Execute","parameters":{"required":["command","level","why","now"],"properties":{"level":{"type":"string","enum":["low","high"]},"why":{"type":"string"},"now":{"type":"boolean"}}}}`: `Execute {"command":"make test","description":"Rehearses a command","level":"low","now":false,"why":"rehearsed"}`,
	} {
		body := `{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"Read","parameters":{}}},{"type":"function","function":` + offered + `}]}`
		res, err := http.Post(api.URL()+"/v1/chat/completions", "application/json", strings.NewReader(body))
		must.OK(t, err)
		defer res.Body.Close()
		var said struct {
			Choices []struct {
				Message struct {
					Calls []struct {
						Function struct{ Name, Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		must.OK(t, json.NewDecoder(res.Body).Decode(&said))
		if call := said.Choices[0].Message.Calls[0].Function; call.Name+" "+call.Arguments != want {
			t.Errorf("%s: %+v, want %s", offered, call, want)
		}
	}
}

// Requests of many clients at the same time get a step each, none twice.
func TestFault_ManyAtOnce(t *testing.T) {
	t.Parallel()
	api := start(t, "429x10, 500x10, 200x20")
	got := make(chan int)
	for range 40 {
		go func() { got <- send(t, api, "anthropic stream", clientTimeout).status }()
	}
	count := map[int]int{}
	for range 40 {
		count[<-got]++
	}
	if all := api.Requests(); len(all) != 40 || string(all[39].Body) != asking["anthropic stream"].body {
		t.Errorf("%d requests", len(all))
	}
	if count[429] != 10 || count[500] != 10 || count[200] != 20 || len(api.Unused()) != 0 {
		t.Errorf("%v, unused %q", count, api.Unused())
	}
}

// Each session begins such a script anew.
func TestFault_PerSession(t *testing.T) {
	t.Parallel()
	api := start(t, "per-session: 429, 200")
	ask := func(session string) int {
		r, err := http.NewRequestWithContext(t.Context(), "POST", api.URL()+"/v1/messages", strings.NewReader(asking["anthropic"].body))
		must.OK(t, err)
		r.Header.Set("X-Claude-Code-Session-Id", session)
		res, err := http.DefaultClient.Do(r)
		must.OK(t, err)
		res.Body.Close()
		return res.StatusCode
	}
	for _, session := range []string{"a", "b"} {
		if one, two := ask(session), ask(session); one != 429 || two != 200 {
			t.Errorf("session %s: %d, %d", session, one, two)
		}
	}
}
