// Command page measures belay ui with a large record: the CPU time that belayd takes for each view and each filter, and for a page that nothing
// happens on. It asks as a page does.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// models are those that the runs have used.
var models = []string{"claude-sonnet-4-5", "claude-opus-4-6", "gpt-5.4"}

func main() {
	bin := flag.String("bin", "bin", "where belay and belayd are")
	runs := flag.Int("runs", 1_000_000, "how many invocations are on record")
	rounds := flag.Int("rounds", 9, "how often each view is asked for")
	keep := flag.String("dir", "", "keep the record in this directory, and use what is there")
	idle := flag.Duration("idle", time.Minute, "how long the page that nothing happens on is watched")
	flag.Parse()
	dir := *keep
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "belay-bench-*"); err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
	}
	os.Setenv("BELAY_STATE_DIR", dir)
	os.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "none"))
	if _, err := os.Stat(filepath.Join(dir, "log.jsonl")); err != nil {
		write(dir, *runs)
	}
	s := start(filepath.Join(*bin, "belay"))
	defer s.stop()

	begun := time.Now()
	first := s.view("/api/now", nil)
	fmt.Printf("%d invocations over 30 days; CPU time of belayd, medians\n\n", *runs)
	fmt.Printf("%-46s %12v   while nothing is folded yet\n", "the first view", first.Round(100*time.Microsecond))
	events, leave := s.stream()
	for e := range events { // until all is folded
		if strings.HasPrefix(e, "record ") {
			break
		}
	}
	fmt.Printf("%-46s %12v   until all is on record, by the clock\n", "the log", time.Since(begun).Round(time.Second))
	profile, _, _ := strings.Cut(models[0], "-") // which most of them are of
	week := url.Values{"since": {"7d"}}
	for _, q := range []struct {
		name, path string
		query      url.Values
		bar        string
	}{
		{"now", "/api/now", nil, "bar 300 ms"},
		{"past", "/api/runs", nil, "bar 300 ms"},
		{"what filters can be set to", "/api/choices", nil, ""},
		{"past, one profile", "/api/runs", url.Values{"profile": {profile}}, "bar 500 ms"},
		{"past, profile=rare", "/api/runs", url.Values{"profile": {"rare"}}, "bar 500 ms"},
		{"past, class=auth", "/api/runs", url.Values{"class": {"auth"}}, "bar 500 ms"},
		{"past, class=failed", "/api/runs", url.Values{"class": {"failed"}}, "bar 500 ms"},
		{"past, class=ok", "/api/runs", url.Values{"class": {"ok"}}, "bar 500 ms"},
		{"past, name=nightly", "/api/runs", url.Values{"name": {"nightly"}}, "bar 500 ms"},
		{"past, tag team=b", "/api/runs", url.Values{"tag": {"team=b"}}, "bar 500 ms"},
		{"past, project", "/api/runs", url.Values{"project": {"/src/p7"}}, "bar 500 ms"},
		{"past, 7 days", "/api/runs", week, "bar 500 ms"},
		{"past, profile + class + 7 days", "/api/runs", url.Values{"profile": {"rare"}, "class": {"auth"}, "since": {"7d"}}, "bar 500 ms"},
		{"past, before 20 days ago", "/api/runs", url.Values{"until": {"20d"}}, "bar 500 ms"},
		{"sessions", "/api/sessions", nil, "bar 500 ms"},
		{"audit", "/api/audit", nil, "bar 500 ms"},
		{"spend, 30 days by model", "/api/spend", nil, "bar 500 ms"},
		{"spend, 30 days by project", "/api/spend", url.Values{"by": {"project"}}, "bar 500 ms"},
		{"spend, name=nightly", "/api/spend", url.Values{"name": {"nightly"}}, "bar 500 ms"},
		{"spend, profile + class + 7 days", "/api/spend", url.Values{"profile": {profile}, "class": {"auth"}, "since": {"7d"}}, "bar 500 ms"},
		{"health, 7 days", "/api/health", nil, "bar 500 ms"},
		{"health, all", "/api/health", url.Values{"since": {"all"}}, "bar 500 ms"},
		{"health, project", "/api/health", url.Values{"project": {"/src/p7"}}, "bar 500 ms"},
	} {
		var spent []time.Duration
		for i := range *rounds {
			query := url.Values{"round": {fmt.Sprint(i)}} // else the answer is that of the time before
			for k, v := range q.query {
				query[k] = v
			}
			spent = append(spent, s.view(q.path, query))
		}
		slices.Sort(spent)
		fmt.Printf("%-46s %12v   %s\n", q.name, spent[len(spent)/2].Round(100*time.Microsecond), q.bar)
	}
	time.Sleep(2 * time.Second)
	before := s.cpu()
	time.Sleep(*idle)
	fmt.Printf("%-46s %11.3f %%   bar 0.5 %%\n", "a page that nothing happens on, of a core", 100*float64(s.cpu()-before)/float64(*idle))
	leave()
}

// site is belay ui, and a session of it.
type site struct {
	cmd         *exec.Cmd
	at, session string
}

func start(belay string) *site {
	s := &site{cmd: exec.Command(belay, "ui", "--no-open")}
	s.cmd.Stderr = os.Stderr
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		log.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		log.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	at, ticket, ok := strings.Cut(line, "/#token=")
	if err != nil || !ok {
		log.Fatalf("belay ui says %q: %v", line, err)
	}
	_, s.at, _ = strings.Cut(at, "http://")
	ticket, _, _ = strings.Cut(ticket, " ")
	body, _ := json.Marshal(map[string]string{"token": ticket})
	res, err := http.Post("http://"+s.at+"/api/session", "application/json", bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	defer res.Body.Close()
	var got struct{ Session string }
	if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.Session == "" {
		log.Fatalf("no session: %s, %v", res.Status, err)
	}
	s.session = got.Session
	return s
}

func (s *site) stop() {
	s.cmd.Process.Signal(os.Interrupt)
	s.cmd.Wait()
}

func (s *site) get(path string, q url.Values) *http.Response {
	req, err := http.NewRequest("GET", "http://"+s.at+path+"?"+q.Encode(), nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.session)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	if res.StatusCode != 200 {
		text, _ := io.ReadAll(res.Body)
		log.Fatalf("%s %v: %s: %s", path, q, res.Status, text)
	}
	return res
}

// view asks for a view and returns the CPU time that belayd took.
func (s *site) view(path string, q url.Values) time.Duration {
	before := s.cpu()
	res := s.get(path, q)
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		log.Fatal(err)
	}
	return s.cpu() - before
}

// stream is what a page is told.
func (s *site) stream() (events chan string, leave func()) {
	res := s.get("/api/changes", nil)
	events = make(chan string, 1<<16)
	go func() {
		defer close(events)
		name := ""
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = text
			}
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				events <- name + " " + data
			}
		}
	}()
	return events, func() { res.Body.Close() }
}

// cpu is the CPU time that belayd has used, to the microsecond: belay has become it.
func (s *site) cpu() time.Duration {
	// The scheduler's own figure is finer than the ticks of stat, but has the first thread only; the others have theirs.
	var sum time.Duration
	tasks, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", s.cmd.Process.Pid))
	if err != nil || len(tasks) == 0 {
		log.Fatalf("belayd is gone, or this is not Linux: %v", err)
	}
	for _, path := range tasks {
		var ns int64
		text, err := os.ReadFile(path)
		if err == nil {
			fmt.Sscan(string(text), &ns)
		}
		sum += time.Duration(ns)
	}
	return sum
}

// write writes a log: half of the runs are an agent's, one in 2,000 a rare command's; of a hundred 80 succeed at once, 10 after a retry, 10 fail. Most
// have a name, a project and a tag.
func write(dir string, runs int) {
	f, err := os.OpenFile(filepath.Join(dir, "log.jsonl"), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	defer w.Flush()
	next := time.Now().Add(-30 * 24 * time.Hour).UnixMilli()
	step := max(1, int64(30*24*time.Hour/time.Millisecond)/int64(runs))
	for n := range runs {
		next += step
		at := time.UnixMilli(next).UTC()
		id := fmt.Sprintf("%08x-%04x-7%03x-8%03x-%012x", next>>16, next&0xffff, rand.IntN(1<<12), rand.IntN(1<<12), rand.Int64N(1<<48))
		agent, more := `"profile":"generic","command":"make"`, ``
		switch {
		case n%2000 == 777:
			agent = `"profile":"rare","command":"rare"`
		case n%2 == 0:
			agent = `"profile":"claude","command":"claude"`
			more = fmt.Sprintf(`,"session_id":"0b6d1f4e-0000-4000-8000-%012x","usage":{"input_tokens":%d,"output_tokens":%d,"cache_read_input_tokens":1000,`+
				`"cache_creation_input_tokens":0,"total_cost_usd":%.4f},"cpu_time":0.5,"model":"%s","first_token":%.3f`, n/10, rand.IntN(10_000), rand.IntN(1000),
				rand.Float64()/10, models[rand.IntN(3)], 0.3+rand.ExpFloat64())
		}
		if n%5 != 0 {
			more += fmt.Sprintf(`,"name":"%s","tags":{"team":"%c"},"project":"/src/p%d"`, []string{"nightly", "review", "fix", "docs"}[n%4], 'a'+n%3, n%10)
		}
		line := func(attempt int, rest string) {
			fmt.Fprintf(w, `{"timestamp":"%s","invocation":"%s",%s,"attempt":%d,%s,"exit_code":0,"response_time":%.3f%s}`+"\n",
				at.Format("2006-01-02T15:04:05.000Z"), id, agent, attempt, rest, rand.Float64()*20, more)
		}
		switch rand.IntN(10) {
		case 0:
			line(1, `"status":"retry","error_type":"network","error":"claude failed (network): connection reset by peer while the answer was read","rule":"network","wait_time":2.5`)
			line(2, `"status":"success"`)
		case 1:
			line(1, `"status":"error","error_type":"auth","error":"Invalid API key, fix external API key","rule":"auth"`)
		default:
			line(1, `"status":"success"`)
		}
	}
}
