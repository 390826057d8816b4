package view

import (
	"encoding/json"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/belay-run/belay/internal/batch"
	"github.com/belay-run/belay/internal/state"
	"github.com/belay-run/belay/internal/test/must"
)

func TestBatches(t *testing.T) {
	st, err := state.Open(filepath.Join(t.TempDir(), "state"))
	must.OK(t, err)
	s := &Source{State: st}
	results := filepath.Join(t.TempDir(), "answers.jsonl")
	add := func(line string) {
		f, err := os.OpenFile(results, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		must.OK(t, err)
		f.WriteString(line + "\n")
		f.Close()
	}
	is := func(want ...string) {
		t.Helper()
		v, err := s.Batches(t.Context(), nil)
		must.OK(t, err)
		data, err := json.Marshal(v)
		must.OK(t, err)
		for _, w := range want {
			if !strings.Contains(string(data), w) {
				t.Errorf("no %s in %s", w, data)
			}
		}
	}
	is(`"batches":[]`)
	add(`{"task":"a","hash":"0123456789abcdef","state":"done","cost_usd":0.25,"index":0,"success":true}`)
	must.OK(t, s.Registry().Note(batch.Entry{Results: results, Tasks: "questions.txt", Dir: "/x", Started: time.Now(), Retry: "belay batch"}))
	is(`"name":"answers.jsonl"`, `"tasks":"questions.txt"`, `"total":1,"done":1,"failed":0`, `"cost_usd":0.25`, `"holder":null`, `"retry":"belay batch"`)
	add(`{"task":"b","hash":"0123456789abcdee","state":"failed","cost_usd":0,"index":1,"success":false,"error":"no luck","error_type":"network","profile":"claude"}`)
	is(`"total":2,"done":1,"failed":1`, `"failures":[{"error_type":"network","tasks":1,"first":"b","error":"no luck"}]`)
	add(`{"task":"c","hash":"0123456789abcdec","state":"done","cost_usd":0,"index":2,"line":3,"id":"01-c","result":"` + strings.Repeat("ä", 5000) + `","output_file":"/etc/passwd","duration_ms":5,"attempts":1}`)
	add(`{"task":"d","hash":"0123456789abcded","state":"skipped","cost_usd":0,"index":3,"reason":"b has failed"}`)
	tasks := func(query string, want ...string) {
		t.Helper()
		q, err := url.ParseQuery(query)
		must.OK(t, err)
		q.Set("results", results)
		v, err := s.Tasks(t.Context(), q)
		must.OK(t, err)
		got := []string{}
		for _, task := range v.Ended {
			got = append(got, task.Task)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	tasks("", "b", "d", "a", "c")
	tasks("state=failed", "b")
	tasks("q=LUCK", "b")
	tasks("q=01-c", "c")
	tasks("q=has+failed", "d")
	tasks("from=3", "c")
	tasks("from=-1&q=none")
	v, err := s.Tasks(t.Context(), url.Values{"results": {results}, "q": {"01-c"}})
	must.OK(t, err)
	if c := v.Ended[0]; !c.Cut || c.Result != strings.Repeat("ä", 4<<10) || c.Output != "/etc/passwd" || c.Run != "01-c" {
		t.Errorf("%+v", c)
	}
	other := filepath.Join(t.TempDir(), "other.jsonl") // it is as good, but no batch was started with it
	data, err := os.ReadFile(results)
	must.OK(t, errors.Join(err, os.WriteFile(other, data, 0o600)))
	for _, path := range []string{other, results + "/../answers.jsonl", "answers.jsonl", ""} {
		if _, err := s.Tasks(t.Context(), url.Values{"results": {path}}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	os.Remove(results)
	is(`"batches":[]`)
}

// Results that take long to read are not read each time a task ends, and those who look are told when they can be.
func TestBatches_LongResultsAreReadAtLeisure(t *testing.T) {
	results := filepath.Join(t.TempDir(), "answers.jsonl")
	write := func(lines int) {
		text := ""
		for i := range lines {
			text += `{"task":"` + string(rune('a'+i)) + `","hash":"0123456789abcdef","state":"done","cost_usd":0,"index":0,"success":true}` + "\n"
		}
		must.OK(t, os.WriteFile(results, []byte(text), 0o600))
	}
	synctest.Test(t, func(t *testing.T) {
		var s statuses
		done := func() int {
			t.Helper()
			status, err := s.read(results)
			must.OK(t, err)
			return status.Done
		}
		write(1)
		done()
		k := s.known[results]
		k.next = time.Now().Add(10 * time.Second)
		s.known[results] = k
		before := s.renewals()
		write(2)
		if n := done(); n != 1 || s.renewals() != before {
			t.Errorf("%d done, renewed %s", n, s.renewals())
		}
		time.Sleep(10 * time.Second)
		if s.renewals() == before {
			t.Error("it is not told that there is more")
		}
		if n := done(); n != 2 {
			t.Errorf("%d done", n)
		}
	})
}
